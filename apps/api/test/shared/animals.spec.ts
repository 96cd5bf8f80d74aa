import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addPet,
  bearer,
  changePet,
  end,
  get,
  idsOf,
  orderPet,
  ORDERS,
  type Pet,
  petOf,
  PETS,
  placeOrder,
  post,
  withdrawPet,
} from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { newCategoryId, useSharedApi } from '../support/shared-api.js';

const RUNS = 30;
const [LEAST, GREATEST] = [-(2n ** 63n), 2n ** 63n - 1n];

const api = useSharedApi();
/** Nothing is ever added to it. */
const EMPTY = newCategoryId();
const LUNA = '{"name":"Luna","categoryId":1}';

/** The animal of a 201. Both ways to read it must give the same bytes. */
async function expectCreated(response: RawResponse): Promise<Pet> {
  const pet = petOf(response, 201);
  expect((await get(api, `/v1/pets?id=${pet.id}`)).body).toBe(`[${response.body}]`);
  expect((await get(api, `/v1/pets/${pet.id}`)).body).toBe(response.body);
  return pet;
}

describe('POST /v1/pets answers 201', () => {
  it('with the stored animal, and nothing else, at an absolute Location', async () => {
    const response = await post(api, PETS, '{"name":"Luna","categoryId":12,"status":"pending"}');
    const pet = await expectCreated(response);
    expect(pet).toStrictEqual({ id: pet.id, name: 'Luna', categoryId: 12, status: 'pending' });
    expect(pet.id).toBeGreaterThan(0);
    expect(response.headers['location']).toBe(`${api.origin}/v1/pets/${pet.id}`);
  });

  it('with the characters that a name has in escapes', async () => {
    const body = String.raw`{"name":"\"\\\/\b\f\n\r\t\u00e9\u00C9\ud83d\ude3a\\u0000","categoryId":1}`;
    expect((await expectCreated(await post(api, PETS, body))).name).toBe('"\\/\b\f\n\r\téÉ😺\\u0000');
  });

  it.each([
    ['an id', '"id":987654321'],
    ['numbers that are no integers elsewhere', '"weight":4.5e-1,"size":1E400'],
    ['what every object has', '"constructor":7,"prototype":{"name":"x"},"toString":1,"then":"x","toJSON":"x","":""'],
  ])('and ignores %s', async (_case, properties) => {
    const pet = await expectCreated(await post(api, PETS, ` {${properties},\r\n"name" : "Luna",\t"categoryId":5 } `));
    expect(pet).toStrictEqual({ id: pet.id, name: 'Luna', categoryId: 5, status: 'available' });
    expect(pet.id).not.toBe(987_654_321);
  });

  it.each([
    'Application/JSON;CHARSET="UTF-8"',
    'application/json;charset=UTF8',
    'application/json; charset=unicode-1-1-utf-8',
    String.raw`application/json ; charset="utf\-8";`,
    String.raw`application/json; ;profile="x; charset=latin1 \" y" ;version=1`,
  ])('to the Content-Type %s', async (type) => {
    await expectCreated(await post(api, PETS, LUNA, { 'Content-Type': type }));
  });

  it('to a body after one byte order mark, as PowerShell and Excel send it', async () => {
    await expectCreated(await post(api, PETS, `\ufeff${LUNA}`));
    for (const body of [`\ufeff\ufeff${LUNA}`, `${LUNA}\ufeff`, '\ufeff'])
      expectError(await post(api, PETS, body), 400, 'invalid_json');
  });
});

describe('POST /v1/pets answers 400', () => {
  it.each([
    ['is missing', undefined],
    ['is null', 'null'],
    ['has no visible character', '" \\u0085\\u200b"'],
    ['has 256 characters, the last a space', JSON.stringify(`${'x'.repeat(255)} `)],
  ])('invalid_parameter where the name %s', async (_case, json) => {
    const body = json === undefined ? `{"Name":"x","categoryId":${EMPTY}}` : `{"name":${json},"categoryId":${EMPTY}}`;
    const message = expectError(await post(api, PETS, body), 400, 'invalid_parameter');
    expect(message).toMatch(/^name (is required|must be a string|must have at least one visible|.*\b255\b)/);
  });

  it.each([
    ['is missing', undefined],
    ['is null', 'null'],
    ['is a string of digits', '"1"'],
    ['is 2^63', '9223372036854775808'],
    ['has a fraction', '1.0'],
    ['has an exponent', '1e3'],
    ['has 60,000 digits', '9'.repeat(60_000)],
  ])('invalid_parameter where the categoryId %s', async (_case, json) => {
    const body = json === undefined ? '{"name":"Luna","category_id":1}' : `{"name":"Luna","categoryId":${json}}`;
    const message = expectError(await post(api, PETS, body), 400, 'invalid_parameter');
    expect(message).toMatch(/^categoryId\b.*(-9223372036854775808.*9223372036854775807|required)/);
  });

  const INTEGER =
    'categoryId must be an integer from -9223372036854775808 to 9223372036854775807, a JSON number without quotes or fraction';

  it.each([
    ['{}', 'name is required; categoryId is required'],
    ['{"status":"lost"}', 'name is required; categoryId is required; status must be one of available, pending, sold'],
    [
      '{"status":1,"categoryId":"1","name":""}',
      `name must have at least one visible character; ${INTEGER}; status must be one of available, pending, sold`,
    ],
    ['{"name":"Luna","categoryId":1.0,"colour":1}', INTEGER],
  ])('that tells all faults of %s, in the order of the description', async (body, message) => {
    expect(expectError(await post(api, PETS, body), 400, 'invalid_parameter')).toBe(message);
    const whole = JSON.parse(body) as Record<string, unknown>;
    if (!('categoryId' in whole)) return;
    expect(expectError(await changePet(api, await addPet(api), body), 400, 'invalid_parameter')).toBe(message);
  });

  it.each(['null', '"adopted"', '"Sold"', '0', '["sold"]', '"constructor"'])(
    'invalid_parameter where the status is %s',
    async (json) => {
      const response = await post(api, PETS, `{"name":"Luna","categoryId":${EMPTY},"status":${json}}`);
      expect(expectError(response, 400, 'invalid_parameter')).toMatch(/^status\b.*available, pending, sold/);
    },
  );

  it.each([
    ...['text/plain; application/json', 'application/x-www-form-urlencoded', 'application/vnd.api+json'],
    ...['application;x=y/json', 'application/json, application/json', `application/json${'; '.repeat(6_000)}!`],
    ...['="latin1', '=utf-8 x', '= utf-8', '=', '', '="utf-8"x', '=utf-16', '=utf-8; charset=utf-16'].map(
      (rest) => `application/json; charset${rest}`,
    ),
    // The form of RFC 8187.
    "application/json; Charset*=utf-8''utf-8",
  ])('unsupported_media_type to the Content-Type %s, before it looks at the body', async (type) => {
    const response = await post(api, PETS, '{', { 'Content-Type': type });
    expect(expectError(response, 400, 'unsupported_media_type')).toMatch(/Content-Type.*application\/json.*UTF-8/);
  });

  it('unsupported_media_type to no Content-Type, and to a Content-Encoding', async () => {
    const untyped = { method: 'POST', headers: bearer(api.key), body: '{' };
    expectError(await request(api, PETS, untyped), 400, 'unsupported_media_type');
    const response = await post(api, PETS, '{', { 'Content-Encoding': 'gzip' });
    expect(expectError(response, 400, 'unsupported_media_type')).toContain('Content-Encoding');
  });

  it('and stores nothing of it', async () => {
    expect(idsOf(await get(api, `/v1/pets?categoryId=${EMPTY}`))).toEqual([]);
  });
});

it('a categoryId comes back digit by digit, whichever int64 it is', async () => {
  const property = fc.asyncProperty(fc.bigInt({ min: LEAST, max: GREATEST }), async (categoryId) => {
    const created = await post(api, PETS, `{"name":"Luna","categoryId":${categoryId}}`);
    await expectCreated(created);
    expect(created.body).toContain(`"categoryId":${categoryId},`);
  });
  const bounds = [LEAST, LEAST + 1n, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n + 1n, 10n ** 18n + 1n, GREATEST];
  await fc.assert(property, { numRuns: RUNS, examples: bounds.map((each) => [each]) });
});

const bodyOf = async (id: number) => (await get(api, `/v1/pets/${id}`)).body;

describe('PATCH /v1/pets/{petId} answers 200 with the animal', () => {
  it.each([
    ['a name', '{"name":" Łuna 🐈 "}', '"name":" Łuna 🐈 ","categoryId":1,"status":"available"'],
    ['a category', `{"categoryId":${LEAST}}`, `"name":"Luna","categoryId":${LEAST},"status":"available"`],
    ['what it has already', '{"status":"available"}', '"name":"Luna","categoryId":1,"status":"available"'],
    [
      'all of them, beside what is ignored',
      '{"id":7,"colour":null,"status":"pending","categoryId":9007199254740993,"name":"Milo"}',
      '"name":"Milo","categoryId":9007199254740993,"status":"pending"',
    ],
  ])('after a change of %s', async (_case, change, fields) => {
    const id = await addPet(api);
    const response = await changePet(api, id, change);
    expect(response).toMatchObject({ status: 200, body: `{"id":${id},${fields}}` });
    expect(await bodyOf(id)).toBe(response.body);
  });

  it('whose name was mended while an order is placed, and whose status waits for its end', async () => {
    const { petId } = await placeOrder(api);
    expect(await changePet(api, petId, { name: 'Milo', status: 'pending' })).toMatchObject({ status: 200 });
    expectError(await changePet(api, petId, { name: 'Nala', status: 'sold' }), 409, 'order_in_progress');
    expect(await bodyOf(petId)).toContain('"name":"Milo"');
  });
});

describe('PATCH /v1/pets/{petId} answers', () => {
  it.each([
    [/^name /, ['null', '""', '1', `"${'x'.repeat(256)}"`].map((name) => `{"name":${name}}`)],
    [/^categoryId /, ['null', '"1"', '1.0', '9223372036854775808'].map((id) => `{"categoryId":${id}}`)],
    [/^status /, ['null', '"lost"', '1'].map((status) => `{"name":"Milo","status":${status}}`)],
    [/at least one of name, categoryId and status/, ['{}', '{"colour":"black"}']],
  ])('400 invalid_parameter, %s, to a bad change, and changes nothing', async (message, changes) => {
    const id = await addPet(api);
    const before = await bodyOf(id);
    for (const change of changes)
      expect(expectError(await changePet(api, id, change), 400, 'invalid_parameter')).toMatch(message);
    expect(await bodyOf(id)).toBe(before);
  });

  it('400 unsupported_media_type to a patch of another kind', async () => {
    for (const type of ['application/json-patch+json', 'application/merge-patch+json; charset=latin1']) {
      const response = await changePet(api, 1, '{}', { 'Content-Type': type });
      const message = expectError(response, 400, 'unsupported_media_type');
      expect(message).toMatch(/application\/json or application\/merge-patch\+json/);
    }
  });

  it('409 invalid_transition to a change that is not allowed', async () => {
    const id = await addPet(api, 'sold');
    const message = expectError(await changePet(api, id, { status: 'available' }), 409, 'invalid_transition');
    expect(message).toBe("status can't be changed from sold to available");
    expect(await bodyOf(id)).toContain('"status":"sold"');
  });

  it('400 before 412, and 412 before 409', async () => {
    const { petId } = await placeOrder(api);
    const other = { 'If-Match': '"another"' };
    expectError(await changePet(api, petId, { status: 'lost' }, other), 400, 'invalid_parameter');
    expectError(await changePet(api, petId, { status: 'sold' }, other), 412, 'precondition_failed');
    expectError(await changePet(api, 999_999_999, { status: 'sold' }, other), 404, 'not_found');
  });
});

describe('DELETE /v1/pets/{petId}', () => {
  it('answers 204 without a body', async () => {
    const response = await withdrawPet(api, await addPet(api, 'sold'));
    expect(response).toMatchObject({ status: 204, body: '' });
    expect(response.headers).not.toHaveProperty('content-type');
    expect(response.headers).not.toHaveProperty('content-length');
  });

  it('takes the animal out of every list, and its id answers 404 to every operation', async () => {
    const categoryId = newCategoryId();
    const [id, bystander] = [await addPet(api, 'available', categoryId), await addPet(api, 'available', categoryId)];
    await withdrawPet(api, id);
    expectError(await get(api, `/v1/pets/${id}`), 404, 'not_found');
    expectError(await changePet(api, id, { name: 'Milo' }), 404, 'not_found');
    expectError(await withdrawPet(api, id), 404, 'not_found');
    expectError(await orderPet(api, id), 404, 'not_found');
    for (const query of [`id=${id}&id=${bystander}`, `categoryId=${categoryId}&status=available`])
      expect(idsOf(await get(api, `/v1/pets?${query}`))).toEqual([bystander]);
  });

  it('is refused while an order is placed, and leaves its earlier orders readable', async () => {
    const order = await placeOrder(api);
    expectError(await withdrawPet(api, order.petId), 409, 'order_in_progress');
    await end(api, 'complete', order.id);
    expect(await withdrawPet(api, order.petId)).toMatchObject({ status: 204 });
    expect((await get(api, `${ORDERS}/${order.id}`)).body).toContain(`"petId":${order.petId},"status":"completed"`);
  });

  it('and PATCH answer 404 to what is no id of an animal', async () => {
    for (const id of ['999999999', 'x', '9223372036854775808']) {
      expectError(await changePet(api, id, { name: 'Milo' }), 404, 'not_found');
      expectError(await withdrawPet(api, id, { 'If-Match': '*' }), 404, 'not_found');
    }
  });
});
