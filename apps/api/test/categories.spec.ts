import { MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import {
  addCategory,
  CATEGORIES,
  categoriesOf,
  categoryOf,
  getCategory,
  listCategories,
  nameCategory,
  removeCategory,
  sendCategory,
} from './support/categories-client.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, createPet, petsOf } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const GREATEST = '9223372036854775807';
const LEAST = '-9223372036854775808';
const MALFORMED = ['x', '1.0', '01', '1e3', '9223372036854775808', '%31x', '-'];

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

let named = 0;
const newName = () => `Kind ${(named += 1)}`;

describe('POST /v1/categories answers 201', () => {
  it('with the category under a new id, where it is, and nothing else', async () => {
    const response = await addCategory(api, ' Łuchse 🐈 ');
    const { id } = categoryOf(response, 201);
    expect(response.body).toBe(`{"id":${id},"name":" Łuchse 🐈 "}`);
    expect(response.headers).toMatchObject({
      'content-type': JSON_CONTENT_TYPE,
      location: `${api.origin}${CATEGORIES}/${id}`,
    });
    expectLimitHeaders(response);
    expect((await getCategory(api, id)).body).toBe(response.body);
  });

  it('with an id that no animal has', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    for (let next = id + 1; next < id + 10; next += 1) await createPet(api, `{"name":"Luna","categoryId":${next}}`);
    const added = categoryOf(await addCategory(api, newName()), 201);
    expect(added.id).toBeGreaterThanOrEqual(id + 10);
  });

  it('and ignores an id of the client', async () => {
    const response = await sendCategory(api, 'POST', CATEGORIES, `{"name":"${newName()}","id":4711}`);
    expect(categoryOf(response, 201).id).not.toBe(4_711);
  });

  it('to each of many at once, with an id of its own', async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => addCategory(api, newName())));
    expect(new Set(responses.map((response) => categoryOf(response, 201).id)).size).toBe(30);
  });
});

describe.each([
  ['POST', CATEGORIES],
  ['PUT', `${CATEGORIES}/4712`],
] as const)('%s %s answers', (method, path) => {
  it.each([
    ['no name', '{}', /^name is required$/],
    ['null', '{"name":null}', /^name\b/],
    ['a number', '{"name":1}', /^name must be a string$/],
    ['an empty name', '{"name":""}', /^name must not be empty/],
    ['white space', '{"name":" \\t\\u3000"}', /^name must not be empty/],
    ['256 characters', `{"name":"${'x'.repeat(256)}"}`, /^name must be at most 255 characters$/],
  ])('400 invalid_parameter to %s', async (_case, body, message) => {
    expect(expectError(await sendCategory(api, method, path, body), 400, 'invalid_parameter')).toMatch(message);
  });

  it.each(['', '{', '[]', '"Cats"', '{"name":"a\\u0000"}', '{"name":"a","name":"b"}'])(
    '400 invalid_json to %j',
    async (body) => {
      expectError(await sendCategory(api, method, path, body), 400, 'invalid_json');
    },
  );

  it('400 unsupported_media_type to another media type', async () => {
    const response = await sendCategory(api, method, path, '{"name":"Cats"}', { 'Content-Type': 'text/plain' });
    expectError(response, 400, 'unsupported_media_type');
  });

  it('401 to a missing key', async () => {
    expectError(await request(api, path, { method, body: '{"name":"Cats"}' }), 401, 'missing_api_key');
  });

  it.each([
    ['in another case', 'cAtS'],
    ['with ß as SS', 'STRASSENKATZEN'],
  ])('409 category_name_taken to a name that another category has, %s', async (_case, name) => {
    for (const each of ['Cats', 'Straßenkatzen']) await addCategory(api, each);
    expectError(await sendCategory(api, method, path, JSON.stringify({ name })), 409, 'category_name_taken');
  });
});

describe('a name that many want at once', () => {
  it('is given to exactly one of them', async () => {
    const name = newName();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? addCategory(api, name) : nameCategory(api, 5_000 + index, name.toUpperCase()),
      ),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const each of responses) if (each.status !== 201) expectError(each, 409, 'category_name_taken');
  });
});

describe('PUT /v1/categories/{categoryId} answers', () => {
  it('201 with the place of the category if the id had no name, and 200 afterwards', async () => {
    const [one, other] = [newName(), newName()];
    const response = await nameCategory(api, 7_000, one);
    expect(response).toMatchObject({ status: 201, body: `{"id":7000,"name":"${one}"}` });
    expect(response.headers).toMatchObject({ location: `${api.origin}${CATEGORIES}/7000` });
    for (const name of [other, other, other.toUpperCase()]) {
      const renamed = await nameCategory(api, 7_000, name);
      expect(renamed).toMatchObject({ status: 200, body: `{"id":7000,"name":"${name}"}` });
      expect(renamed.headers).not.toHaveProperty('location');
    }
    expect(categoryOf(await nameCategory(api, 7_001, one), 201).name).toBe(one);
  });

  it.each([GREATEST, LEAST, '0', '-1'])('201 to the id %s, exactly', async (id) => {
    const name = newName();
    expect((await nameCategory(api, id, name)).body).toBe(`{"id":${id},"name":"${name}"}`);
    expect((await getCategory(api, id)).body).toBe(`{"id":${id},"name":"${name}"}`);
  });

  it('201 to an id that animals carry already', async () => {
    await createPet(api, '{"name":"Luna","categoryId":7100}');
    expect(await nameCategory(api, 7_100, newName())).toMatchObject({ status: 201 });
  });

  it('201 to exactly one of many at once', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => nameCategory(api, 7_200, newName())));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
  });

  it.each(MALFORMED)('404 to the id %s', async (id) => {
    expectError(await nameCategory(api, id, newName()), 404, 'not_found');
  });
});

describe('GET /v1/categories/{categoryId} answers', () => {
  it.each([...MALFORMED, '123456789'])('404 to the id %s', async (id) => {
    expectError(await getCategory(api, id), 404, 'not_found');
  });
});

describe('DELETE /v1/categories/{categoryId} answers', () => {
  it('204 without a body, and from then on it is not there', async () => {
    const name = newName();
    const { id } = categoryOf(await addCategory(api, name), 201);
    const response = await removeCategory(api, id);
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(response.headers).not.toHaveProperty('content-type');
    expectLimitHeaders(response);
    expectError(await getCategory(api, id), 404, 'not_found');
    expectError(await removeCategory(api, id), 404, 'not_found');
    expect(categoriesOf(await listCategories(api, `?id=${id}`))).toEqual([]);
    expect(await addCategory(api, name)).toMatchObject({ status: 201 });
  });

  it('409 category_in_use while an animal has it', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    await createPet(api, `{"name":"Luna","categoryId":${id}}`);
    expectError(await removeCategory(api, id), 409, 'category_in_use');
    expect(await getCategory(api, id)).toMatchObject({ status: 200 });
  });

  it('404 to an id without a name, whether animals have it or not', async () => {
    await createPet(api, '{"name":"Luna","categoryId":8000}');
    for (const id of [8_000, 8_001]) expectError(await removeCategory(api, id), 404, 'not_found');
  });

  it.each(MALFORMED)('404 to the id %s', async (id) => {
    expectError(await removeCategory(api, id), 404, 'not_found');
  });

  it('401 to a missing key', async () => {
    expectError(await request(api, `${CATEGORIES}/1`, { method: 'DELETE' }), 401, 'missing_api_key');
  });
});

describe('If-Match', () => {
  const tagOf = async (id: number) => (await getCategory(api, id)).headers['etag'] ?? '';

  it('renames and removes a category that is still in that version, and shows the next one', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    const renamed = await nameCategory(api, id, newName(), { 'If-Match': await tagOf(id) });
    expect(renamed).toMatchObject({ status: 200, headers: { etag: await tagOf(id) } });
    expect(await removeCategory(api, id, { 'If-Match': `"another", ${await tagOf(id)}` })).toMatchObject({
      status: 204,
    });
  });

  it('is 412 precondition_failed to another version, and nothing changes', async () => {
    const category = categoryOf(await addCategory(api, newName()), 201);
    for (const tag of ['"another"', `W/${await tagOf(category.id)}`]) {
      const headers = { 'If-Match': tag };
      expectError(await nameCategory(api, category.id, newName(), headers), 412, 'precondition_failed');
      expectError(await removeCategory(api, category.id, headers), 412, 'precondition_failed');
    }
    expect(categoryOf(await getCategory(api, category.id))).toEqual(category);
  });

  it('needs a category that is there: PUT never names a new id under it, whichever tags it has', async () => {
    for (const tag of ['*', '"another"']) {
      expectError(await nameCategory(api, 9_000, newName(), { 'If-Match': tag }), 412, 'precondition_failed');
      expectError(await removeCategory(api, 9_000, { 'If-Match': tag }), 404, 'not_found');
    }
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    expect(await nameCategory(api, id, newName(), { 'If-Match': '*' })).toMatchObject({ status: 200 });
    expect(await removeCategory(api, id, { 'If-Match': '*' })).toMatchObject({ status: 204 });
  });

  it('lets one of many at once rename what all have seen', async () => {
    const { id } = categoryOf(await addCategory(api, newName()), 201);
    const headers = { 'If-Match': await tagOf(id) };
    const responses = await Promise.all(Array.from({ length: 12 }, () => nameCategory(api, id, newName(), headers)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
  });
});

describe('If-None-Match', () => {
  const onlyNew = { 'If-None-Match': '*' };

  it('names an id that has no name, and is 412 precondition_failed to one that has', async () => {
    const created = await nameCategory(api, 9_100, newName(), onlyNew);
    const category = categoryOf(created, 201);
    expectError(await nameCategory(api, 9_100, newName(), onlyNew), 412, 'precondition_failed');
    expect(categoryOf(await getCategory(api, 9_100))).toEqual(category);
  });

  it('lets one of many at once name an id', async () => {
    const responses = await Promise.all(Array.from({ length: 12 }, () => nameCategory(api, 9_101, newName(), onlyNew)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 412)]);
  });

  it.each([{ 'If-None-Match': '"tag"' }, { 'If-None-Match': '*', 'If-Match': '*' }])(
    'is 400 to a PUT as %j, and nothing changes',
    async (headers) => {
      expectError(await nameCategory(api, 9_102, newName(), headers), 400, 'invalid_parameter');
      expectError(await getCategory(api, 9_102), 404, 'not_found');
    },
  );
});

describe('the animals', () => {
  it('carry any id, whether it has a name or not', async () => {
    const response = await createPet(api, `{"name":"Luna","categoryId":${GREATEST}}`);
    expect(response).toMatchObject({ status: 201 });
    const unnamed = await createPet(api, '{"name":"Luna","categoryId":999999}');
    expect(unnamed).toMatchObject({ status: 201 });
    expect(petsOf(await request(api, '/v1/pets?categoryId=999999', { headers: bearer(api.key) }))).toHaveLength(1);
  });
});
