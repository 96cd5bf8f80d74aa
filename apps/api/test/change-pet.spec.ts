import { INT64_MIN, MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectLimitHeaders } from './support/expectations.js';
import { changePet, createPet, get } from './support/pets-client.js';
import { addPet, end, placeOrder } from './support/store-client.js';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const bodyOf = async (id: unknown) => (await get(api, `/v1/pets/${String(id)}`)).body;
const tagOf = async (id: unknown) => (await get(api, `/v1/pets/${String(id)}`)).headers['etag'] ?? '';

describe('PATCH /v1/pets/{petId} answers 200 with the animal', () => {
  it.each([
    ['a name', '{"name":" Łuna 🐈 "}', '"name":" Łuna 🐈 ","categoryId":1,"status":"available"'],
    ['a category', `{"categoryId":${INT64_MIN}}`, `"name":"Luna","categoryId":${INT64_MIN},"status":"available"`],
    ['a status', '{"status":"pending"}', '"name":"Luna","categoryId":1,"status":"pending"'],
    ['what it has already', '{"status":"available"}', '"name":"Luna","categoryId":1,"status":"available"'],
    [
      'all of them',
      '{"status":"pending","categoryId":9007199254740993,"name":"Milo"}',
      '"name":"Milo","categoryId":9007199254740993,"status":"pending"',
    ],
    [
      'a name beside what is ignored',
      '{"name":"Milo","id":7,"colour":null}',
      '"name":"Milo","categoryId":1,"status":"available"',
    ],
  ])('after a change of %s', async (_case, change, fields) => {
    const id = await addPet(api);
    const response = await changePet(api, id, change);
    expect(response).toMatchObject({ status: 200, body: `{"id":${id},${fields}}`, headers: { 'x-stability': 'beta' } });
    expectLimitHeaders(response);
    expect(await bodyOf(id)).toBe(response.body);
  });

  it('and its entity tag, which the next GET has too', async () => {
    const id = await addPet(api);
    const { headers } = await changePet(api, id, { name: 'Milo' });
    expect(headers['etag']).toMatch(/^"[0-9a-f]{64}"$/);
    expect(await tagOf(id)).toBe(headers['etag']);
  });

  it.each(['application/json', 'Application/JSON; charset="UTF-8"', 'application/merge-patch+json; charset=utf-8'])(
    'to a body of type %s',
    async (type) => {
      expect(await changePet(api, await addPet(api), { name: 'Milo' }, { 'Content-Type': type })).toMatchObject({
        status: 200,
      });
    },
  );

  it('whose name was mended while an order is placed, and whose status waits for its end', async () => {
    const { id, petId } = await placeOrder(api);
    expect(await changePet(api, petId, { name: 'Milo', status: 'pending' })).toMatchObject({ status: 200 });
    for (const status of ['available', 'sold'])
      expectError(await changePet(api, petId, { name: 'Nala', status }), 409, 'order_in_progress');
    expect(await bodyOf(petId)).toContain('"name":"Milo"');
    await end(api, 'cancel', id);
    expect(await changePet(api, petId, { status: 'pending' })).toMatchObject({ status: 200 });
  });
});

describe('PATCH /v1/pets/{petId} answers', () => {
  it.each(['null', '""', '" "', '1', '["x"]', '"\\u0000"', '"\\ud800"', `"${'x'.repeat(256)}"`])(
    '400 to the name %s, and changes nothing',
    async (name) => {
      const id = await addPet(api);
      const before = await bodyOf(id);
      const response = await changePet(api, id, `{"status":"pending","name":${name}}`);
      expect(response).toMatchObject({ status: 400 });
      expect(await bodyOf(id)).toBe(before);
    },
  );

  it.each(['null', '"1"', '1.0', '1e3', '9223372036854775808', 'true'])(
    '400 to the category %s',
    async (categoryId) => {
      const change = `{"categoryId":${categoryId}}`;
      expect(expectError(await changePet(api, await addPet(api), change), 400, 'invalid_parameter')).toMatch(
        /^categoryId /,
      );
    },
  );

  it.each(['null', '"lost"', '"Sold"', '1'])('400 to the status %s', async (status) => {
    const change = `{"status":${status}}`;
    expect(expectError(await changePet(api, await addPet(api), change), 400, 'invalid_parameter')).toMatch(/^status /);
  });

  it.each(['{}', '{"colour":"black"}'])('400 to %s, which changes nothing', async (change) => {
    const response = await changePet(api, await addPet(api), change);
    expect(expectError(response, 400, 'invalid_parameter')).toMatch(/at least one of name, categoryId and status/);
  });

  it.each(['', '[]', 'null', '{', '{"name":"a","name":"b"}'])('400 to the body %s', async (body) => {
    expectError(await changePet(api, await addPet(api), body), 400, 'invalid_json');
  });

  it.each(['text/plain', 'application/json-patch+json', 'application/merge-patch+json; charset=latin1', ''])(
    '400 to the media type "%s", before it looks at the body',
    async (type) => {
      const response = await changePet(api, await addPet(api), '{', { 'Content-Type': type });
      const message = expectError(response, 400, 'unsupported_media_type');
      expect(message).toMatch(/application\/json or application\/merge-patch\+json/);
    },
  );

  it.each([
    ['sold', 'available'],
    ['sold', 'pending'],
    ['available', 'sold'],
    ['pending', 'sold'],
  ])('409 invalid_transition to a change from %s to %s', async (from, to) => {
    const id = await addPet(api, from as 'sold');
    const message = expectError(await changePet(api, id, { status: to }), 409, 'invalid_transition');
    expect(message).toBe(`status can't be changed from ${from} to ${to}`);
    expect(await bodyOf(id)).toContain(`"status":"${from}"`);
  });

  it.each(['999999', '0', '-1', 'x', '1.0', '9223372036854775808', '01'])('404 to the animal %s', async (id) => {
    expectError(await changePet(api, id, { name: 'Milo' }), 404, 'not_found');
  });

  it('400 before 412, and 412 before 409', async () => {
    const { petId } = await placeOrder(api);
    const other = { 'If-Match': '"another"' };
    expectError(await changePet(api, petId, { status: 'lost' }, other), 400, 'invalid_parameter');
    expectError(await changePet(api, petId, { status: 'sold' }, other), 412, 'precondition_failed');
    expectError(await changePet(api, petId, { status: 'sold' }), 409, 'order_in_progress');
    expectError(await changePet(api, 999_999, { status: 'sold' }, other), 404, 'not_found');
  });
});

describe('PATCH /v1/pets/{petId} with If-Match', () => {
  it('changes the animal that has the tag', async () => {
    const id = await addPet(api);
    const tag = await tagOf(id);
    const response = await changePet(api, id, { name: 'Milo' }, { 'If-Match': tag });
    expect(response).toMatchObject({ status: 200 });
    expectError(await changePet(api, id, { name: 'Nala' }, { 'If-Match': tag }), 412, 'precondition_failed');
    expect(await bodyOf(id)).toBe(response.body);
  });

  it('takes the tag again once the animal is as it was', async () => {
    const id = await addPet(api);
    const tag = await tagOf(id);
    await changePet(api, id, { name: 'Milo' });
    await changePet(api, id, { name: 'Luna' });
    expect(await changePet(api, id, { name: 'Nala' }, { 'If-Match': tag })).toMatchObject({ status: 200 });
  });

  it.each<[string, (tag: string) => string, number]>([
    ['*', () => '*', 200],
    ['several tags, one of them its own', (tag) => `"a" ,, W/"b",${tag}`, 200],
    ['its own tag as a weak one', (tag) => `W/${tag}`, 412],
    ['its tag in upper case', (tag) => tag.toUpperCase(), 412],
    ['an empty tag', () => '""', 412],
    ['its tag without quotes', (tag) => tag.replaceAll('"', ''), 400],
    ['an open quote', (tag) => tag.slice(0, -1), 400],
    ['a star among tags', (tag) => `*, ${tag}`, 400],
    ['a comma', () => ',', 400],
  ])('of %s', async (_case, headerOf, status) => {
    const id = await addPet(api);
    const response = await changePet(api, id, { name: 'Milo' }, { 'If-Match': headerOf(await tagOf(id)) });
    expect(response).toMatchObject({ status });
    expect(await bodyOf(id)).toContain(status === 200 ? '"name":"Milo"' : '"name":"Luna"');
  });

  it('loses no change of 8 parties that read, change and try again', async () => {
    const { body: added } = await createPet(api, '{"name":"Luna","categoryId":0}');
    const { id } = JSON.parse(added) as { readonly id: number };
    const addOne = async () => {
      for (;;) {
        const { body, headers } = await get(api, `/v1/pets/${id}`);
        const { categoryId } = JSON.parse(body) as { readonly categoryId: number };
        const tag = { 'If-Match': headers['etag'] ?? '' };
        const { status } = await changePet(api, id, { categoryId: categoryId + 1 }, tag);
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    const party = async () => {
      for (let added = 0; added < 5; added += 1) await addOne();
    };
    await Promise.all(Array.from({ length: 8 }, party));
    expect(await bodyOf(id)).toContain('"categoryId":40,');
  });
});
