import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useApi } from '../support/api.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { bearer, get } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';
import {
  addPet,
  end,
  listOrders,
  orderOf,
  orderPet,
  ORDERS,
  ordersOf,
  petStatus,
  placeOrder,
  postOrder,
} from '../support/store-client.js';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

describe('POST /v1/store/orders answers 201', () => {
  it('with the order, its properties in this order, and nothing else', async () => {
    const petId = await addPet(api);
    const now = new Date(api.clock.now()).toISOString();
    const response = await orderPet(api, petId);
    const { id } = orderOf(response, 201);
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.body).toBe(
      `{"id":${id},"petId":${petId},"status":"placed","createdAt":"${now}","updatedAt":"${now}"}`,
    );
    expect(id).toBeGreaterThan(0);
  });

  it('with times of UTC to the millisecond', async () => {
    api.clock.advance(7);
    expect((await placeOrder(api)).createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.007Z$/);
    api.clock.advance(MINUTE - 7);
    expect((await placeOrder(api)).createdAt).toMatch(/:00\.000Z$/);
  });

  it('with a Location that is absolute and leads to the order', async () => {
    const response = await orderPet(api, await addPet(api));
    const { id } = orderOf(response, 201);
    expect(response.headers['location']).toBe(`${api.origin}${ORDERS}/${id}`);
    expect(await get(api, `${ORDERS}/${id}`)).toMatchObject({ status: 200, body: response.body });
  });

  it('with a greater id each time', async () => {
    expect((await placeOrder(api)).id).toBeLessThan((await placeOrder(api)).id);
  });

  it('and the animal is pending from then on', async () => {
    const petId = await addPet(api);
    expect(await petStatus(api, petId)).toBe('available');
    orderOf(await orderPet(api, petId), 201);
    expect(await petStatus(api, petId)).toBe('pending');
  });

  it('again for an animal whose order was cancelled, by whichever account', async () => {
    const { id, petId } = await placeOrder(api);
    orderOf(await end(api, 'cancel', id));
    const { key } = await api.openKey();
    expect(orderOf(await orderPet(api, petId, key), 201)).toMatchObject({ petId, status: 'placed' });
    expect(await petStatus(api, petId)).toBe('pending');
  });

  it('for an animal of the greatest id, every digit of which comes back', async () => {
    await insertAnimals();
    const response = await postOrder(api, '{"petId":9223372036854775807}');
    expect(response).toMatchObject({ status: 201 });
    const { id } = orderOf(response, 201);
    for (const answer of [response, await get(api, `${ORDERS}/${id}`), await listOrders(api, '?limit=100')]) {
      expect(answer.body).toContain('"petId":9223372036854775807,');
    }
  });

  it('and ignores unknown properties, including an id, a status and an account', async () => {
    const petId = await addPet(api);
    const response = await postOrder(api, `{"id":7,"status":"completed","accountId":9,"createdAt":0,"petId":${petId}}`);
    expect(orderOf(response, 201)).toMatchObject({ petId, status: 'placed' });
  });
});

/** Inserts animals with the greatest and the least possible id. */
async function insertAnimals(): Promise<void> {
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO animals (id, name, category_id, status) VALUES
       (9223372036854775807, 'Last', 1, 'available'), (-9223372036854775808, 'First', 1, 'sold')`,
  );
  await client.end();
}

describe('POST /v1/store/orders, however many race,', () => {
  const RACERS = 50;
  const ofStatus = (responses: readonly RawResponse[], status: number) =>
    responses.filter((response) => response.status === status);

  it('is answered 201 once for one animal, and 409 pet_not_available for all others', async () => {
    const petId = await addPet(api);
    const { key } = await api.openKey();
    const responses = await Promise.all(
      Array.from({ length: RACERS }, (_, index) => orderPet(api, petId, index % 2 ? key : api.key)),
    );
    expect(ofStatus(responses, 201)).toHaveLength(1);
    expect(ofStatus(responses, 409)).toHaveLength(RACERS - 1);
    for (const response of ofStatus(responses, 409)) expectError(response, 409, 'pet_not_available');
    expect(await petStatus(api, petId)).toBe('pending');
  });

  it('is answered 201 once a round, while the animal is cancelled and ordered again', async () => {
    const petId = await addPet(api);
    for (let round = 0; round < 5; round += 1) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => orderPet(api, petId)));
      const won = ofStatus(responses, 201);
      expect(won).toHaveLength(1);
      for (const response of won) orderOf(await end(api, 'cancel', orderOf(response, 201).id));
      expect(await petStatus(api, petId)).toBe('available');
    }
  });

  it('is answered 201 exactly up to the limit of an account, and 409 too_many_orders beyond, also with keys of idempotency', async () => {
    const { key } = await api.openKey();
    const pets = await Promise.all(Array.from({ length: 130 }, () => addPet(api)));
    const order = (petId: number, index: number) =>
      postOrder(api, `{"petId":${petId}}`, {
        'Content-Type': 'application/json',
        ...(index % 2 === 0 && { 'Idempotency-Key': `order-${petId}` }),
        ...bearer(key),
      });
    const responses = await Promise.all(pets.map(order));
    expect(ofStatus(responses, 201)).toHaveLength(100);
    expect(ofStatus(responses, 409)).toHaveLength(30);
    for (const response of ofStatus(responses, 409)) {
      expect(expectError(response, 409, 'too_many_orders')).toContain('100');
    }
    expect((await Promise.all(pets.map((id) => petStatus(api, id)))).filter((is) => is === 'available')).toHaveLength(
      30,
    );
  });

  it('is answered 201 to each that orders an animal of its own', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => placeOrder(api)));
    expect(new Set(orders.map(({ id }) => id)).size).toBe(20);
  });
});

describe('POST /v1/store/orders answers 409 pet_not_available', () => {
  it.each(['pending', 'sold'] as const)('where the animal was %s from the start', async (status) => {
    const petId = await addPet(api, status);
    expect(expectError(await orderPet(api, petId), 409, 'pet_not_available')).toContain(String(petId));
    expect(await petStatus(api, petId)).toBe(status);
  });

  it('where the same account has ordered it already', async () => {
    const { petId } = await placeOrder(api);
    expectError(await orderPet(api, petId), 409, 'pet_not_available');
  });

  it('where another account has ordered it, of which nothing is told', async () => {
    const { key } = await api.openKey();
    const { id, petId } = await placeOrder(api, key);
    const message = expectError(await orderPet(api, petId), 409, 'pet_not_available');
    expect(message.replace(String(petId), '')).not.toContain(String(id));
  });

  it('where its order was completed', async () => {
    const { id, petId } = await placeOrder(api);
    orderOf(await end(api, 'complete', id));
    expectError(await orderPet(api, petId), 409, 'pet_not_available');
    expect(await petStatus(api, petId)).toBe('sold');
  });

  it('and adds no order', async () => {
    const { key } = await api.openKey();
    expectError(await orderPet(api, await addPet(api, 'sold'), key), 409, 'pet_not_available');
    expect(ordersOf(await listOrders(api, '', key))).toEqual([]);
  });
});

describe('POST /v1/store/orders answers 404 not_found to a petId', () => {
  it.each([
    ['that is unknown', '999999'],
    ['of 0', '0'],
    ['below 0', '-1'],
    ['of the greatest int64 but one', '9223372036854775806'],
    ['of the least int64 but one', '-9223372036854775807'],
  ])('%s', async (_case, petId) => {
    expect(expectError(await postOrder(api, `{"petId":${petId}}`), 404, 'not_found')).toContain(petId);
  });
});

describe('POST /v1/store/orders answers 400', () => {
  let petId: number;

  beforeAll(async () => {
    petId = await addPet(api);
  });

  it.each([
    ['is missing', '{}'],
    ['is only called so in another case', '{"petid":1,"PetId":1,"pet_id":1}'],
    ['is inside an object', '{"order":{"petId":1}}'],
    ['is null', '{"petId":null}'],
    ['is a string of digits', '{"petId":"1"}'],
    ['is an empty string', '{"petId":""}'],
    ['is a string of U+0000 that was escaped twice', String.raw`{"petId":"\\u0000"}`],
    ['is a boolean', '{"petId":true}'],
    ['is an array', '{"petId":[1]}'],
    ['is an object', '{"petId":{"id":1}}'],
    ['has a fraction', '{"petId":1.5}'],
    ['has a zero fraction', '{"petId":1.0}'],
    ['has an exponent', '{"petId":1e0}'],
    ['is 2^63', '{"petId":9223372036854775808}'],
    ['is -2^63-1', '{"petId":-9223372036854775809}'],
    ['is 1 modulo 2^64', '{"petId":18446744073709551617}'],
    ['has 60,000 digits', `{"petId":${'9'.repeat(60_000)}}`],
  ])('invalid_parameter where petId %s', async (_case, body) => {
    expect(expectError(await postOrder(api, body), 400, 'invalid_parameter')).toMatch(/^petId\b/);
  });

  it.each([
    ['is empty', ''],
    ['is cut short', '{"petId":1'],
    ['is an array', '[{"petId":1}]'],
    ['is a number', '1'],
    ['is null', 'null'],
    ['has petId twice', '{"petId":1,"petId":1}'],
    ['has __proto__', '{"__proto__":{"petId":1}}'],
    ['has constructor.prototype', '{"constructor":{"prototype":{"petId":1}},"petId":1}'],
    ['has U+0000', String.raw`{"petId":"\u0000"}`],
    ['has a lone surrogate', String.raw`{"petId":1,"x":"\ud83d"}`],
    ['has a leading zero', '{"petId":01}'],
    ['is 17 levels deep', `{"petId":1,"x":${'['.repeat(16)}${']'.repeat(16)}}`],
    ['is not UTF-8', Buffer.from('{"petId":1,"x":"é"}', 'latin1')],
  ])('invalid_json where the body %s', async (_case, body) => {
    expectError(await postOrder(api, body), 400, 'invalid_json');
  });

  it.each([
    ['without a Content-Type', {}],
    ['as text', { 'Content-Type': 'text/plain' }],
    ['as a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['in another charset', { 'Content-Type': 'application/json; charset=utf-16' }],
    ['with a Content-Encoding', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
  ])('unsupported_media_type to a body %s', async (_case, headers) => {
    expectError(await postOrder(api, `{"petId":${petId}}`, headers), 400, 'unsupported_media_type');
  });

  it('and the animal stays as it is', async () => {
    expect(await petStatus(api, petId)).toBe('available');
  });
});

describe('POST /v1/store/orders answers', () => {
  it('401 to no key before it looks at the body', async () => {
    expectError(await request(api, ORDERS, { method: 'POST', body: '{' }), 401, 'missing_api_key');
  });

  it('413 to a body over 64 KiB', async () => {
    expectError(await postOrder(api, `{"petId":1,"x":"${'x'.repeat(65_536)}"}`), 413, 'payload_too_large');
  });

  it('429 over the limit, and orders nothing', async () => {
    const { key } = await api.openKey('free');
    for (let sent = 0; sent < 60; sent += 1) await listOrders(api, '', key);
    const petId = await addPet(api);
    expectError(await orderPet(api, petId, key), 429, 'rate_limited');
    expect(await petStatus(api, petId)).toBe('available');
  });

  it("with the limits, spends one request of the quota, and keeps the client's X-Request-Id", async () => {
    const { key } = await api.openKey('free');
    const petId = await addPet(api);
    const headers = { ...bearer(key), 'Content-Type': 'application/json', 'X-Request-Id': 'Order_66-b' };
    const response = await request(api, ORDERS, { method: 'POST', headers, body: `{"petId":${petId}}` });
    expect(response).toMatchObject({ status: 201, headers: { 'x-request-id': 'Order_66-b' } });
    expectLimitHeaders(response);
    expect(response.headers['x-ratelimit-remaining']).toBe('59');
  });
});
