import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { bearer, get, listPets, nextPageOf, walk } from '../support/pets-client.js';
import { request } from '../support/raw-http.js';
import { openKeys, useSharedApi } from '../support/shared-api.js';
import {
  addPet,
  end,
  listOrders,
  type Order,
  orderOf,
  orderPet,
  ORDERS,
  ordersOf,
  petStatus,
  placeOrder,
  postOrder,
} from '../support/store-client.js';

const ENDINGS = [
  { ending: 'complete', status: 'completed', pet: 'sold' },
  { ending: 'cancel', status: 'cancelled', pet: 'available' },
] as const;
/** No id of an order. */
const NO_IDS = ['999999999', '9223372036854775808', '', 'mine', '1.0', '1%00'];

const api = useSharedApi();

const bodyOf = ({ id, petId, status, createdAt, updatedAt }: Order) =>
  `{"id":${id},"petId":${petId},"status":"${status}","createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`;

async function expectStays(order: Order): Promise<void> {
  expect(orderOf(await get(api, `${ORDERS}/${order.id}`))).toEqual(order);
}

describe('POST /v1/store/orders answers 201', () => {
  it('with the order, its properties in this order, and nothing else, at an absolute Location', async () => {
    const petId = await addPet(api);
    expect(await petStatus(api, petId)).toBe('available');
    const begun = Date.now();
    const response = await orderPet(api, petId);
    const order = orderOf(response, 201);
    expect(response.body).toBe(bodyOf({ ...order, petId, status: 'placed', updatedAt: order.createdAt }));
    expect(Date.parse(order.createdAt)).toBeGreaterThanOrEqual(begun);
    expect(Date.parse(order.createdAt)).toBeLessThanOrEqual(Date.now());
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.headers['location']).toBe(`${api.origin}${ORDERS}/${order.id}`);
    expect(await get(api, `${ORDERS}/${order.id}`)).toMatchObject({ status: 200, body: response.body });
    expect(await petStatus(api, petId)).toBe('pending');
  });

  it('and ignores unknown properties, including an id, a status and an account', async () => {
    const petId = await addPet(api);
    const response = await postOrder(api, `{"id":7,"status":"completed","accountId":9,"createdAt":0,"petId":${petId}}`);
    expect(orderOf(response, 201)).toMatchObject({ petId, status: 'placed' });
  });

  it('up to the limit of an account, and 409 too_many_orders beyond, also under an Idempotency-Key', async () => {
    const [key] = await openKeys();
    const pets = await Promise.all(Array.from({ length: 102 }, () => addPet(api)));
    for (const petId of pets.splice(0, 100)) orderOf(await orderPet(api, petId, key), 201);
    const [one, other] = pets;
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'over', ...bearer(key) };
    const refused = [await orderPet(api, one ?? 0, key), await postOrder(api, `{"petId":${other}}`, headers)];
    for (const response of refused) expect(expectError(response, 409, 'too_many_orders')).toContain('100');
  });
});

describe('POST /v1/store/orders answers 409 pet_not_available', () => {
  it('where another account has ordered it, of which nothing is told, and where its order was completed', async () => {
    const [key] = await openKeys();
    const { id, petId } = await placeOrder(api, key);
    const message = expectError(await orderPet(api, petId), 409, 'pet_not_available');
    expect(message.replace(String(petId), '')).not.toContain(String(id));
    orderOf(await end(api, 'complete', id, key));
    expectError(await orderPet(api, petId), 409, 'pet_not_available');
  });
});

describe('POST /v1/store/orders answers', () => {
  it('404 not_found to an unknown petId', async () => {
    expect(expectError(await orderPet(api, 999_999_999), 404, 'not_found')).toContain('999999999');
  });

  it.each([
    ['is missing', '{"PetId":1,"pet_id":1,"order":{"petId":1}}'],
    ['is a string of digits', '{"petId":"1"}'],
    ['has a zero fraction', '{"petId":1.0}'],
    ['is 2^63', '{"petId":9223372036854775808}'],
  ])('400 invalid_parameter where petId %s', async (_case, body) => {
    expect(expectError(await postOrder(api, body), 400, 'invalid_parameter')).toMatch(/^petId\b/);
  });
});

describe('GET /v1/store/orders/{orderId} answers', () => {
  it("200 to each of the account's keys, and to HEAD without the body", async () => {
    const [one, other] = await openKeys();
    const order = await placeOrder(api, one);
    const response = await get(api, `${ORDERS}/${order.id}`, other);
    expect(response).toMatchObject({ status: 200, body: bodyOf(order) });
    const head = await request(api, `${ORDERS}/${order.id}`, { method: 'HEAD', headers: bearer(one) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String(response.body.length));
  });

  it("404 not_found to another account's order, as to an unknown one", async () => {
    const [{ id }, [key]] = [await placeOrder(api), await openKeys()];
    const message = expectError(await get(api, `${ORDERS}/${id}`, key), 404, 'not_found');
    const unknown = expectError(await get(api, `${ORDERS}/999999999`, key), 404, 'not_found');
    expect(message.replace(String(id), 'x')).toBe(unknown.replace('999999999', 'x'));
  });

  it.each(NO_IDS)('404 not_found to the orderId %s', async (id) => {
    expectError(await get(api, `${ORDERS}/${id}`), 404, 'not_found');
  });
});

describe.each(ENDINGS)('POST /v1/store/orders/{orderId}/$ending', ({ ending, status, pet }) => {
  it(`answers 200 with the order, which is ${status} now, as every later answer has it, and the animal is ${pet}`, async () => {
    const order = await placeOrder(api);
    const response = await end(api, ending, order.id);
    const ended = orderOf(response);
    expect(response.body).toBe(bodyOf({ ...order, status, updatedAt: ended.updatedAt }));
    expect(Date.parse(ended.updatedAt)).toBeGreaterThanOrEqual(Date.parse(order.createdAt));
    await expectStays(ended);
    expect(await petStatus(api, order.petId)).toBe(pet);
  });

  it('answers 200 whatever body comes, for none is looked at', async () => {
    const { id } = await placeOrder(api);
    const headers = { 'Content-Type': 'application/json', ...bearer(api.key) };
    const body = '{'.repeat(1_000_000);
    const response = await request(api, `${ORDERS}/${id}/${ending}`, { method: 'POST', headers, body });
    expect(orderOf(response)).toMatchObject({ id, status });
  });

  it.each(ENDINGS)(`answers 409 order_final once it is $status, and nothing changes`, async (before) => {
    const { id } = await placeOrder(api);
    const ended = orderOf(await end(api, before.ending, id));
    expect(expectError(await end(api, ending, id), 409, 'order_final')).toContain(before.status);
    await expectStays(ended);
  });

  it("answers 404 not_found to another account's order, be it final or not", async () => {
    const [[key], order] = [await openKeys(), await placeOrder(api)];
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
    orderOf(await end(api, 'cancel', order.id));
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
  });

  it('answers 404 not_found to what is no id of an order', async () => {
    for (const id of NO_IDS) expectError(await end(api, ending, id), 404, 'not_found');
  });
});

describe('GET /v1/store/orders', () => {
  const COUNT = 6;
  const STATUSES = ['placed', 'completed', 'cancelled'] as const;
  let keys: readonly [string, string];
  let orders: readonly Order[];
  let cursor: string;

  beforeAll(async () => {
    keys = await openKeys();
    const [other] = await openKeys();
    const ids: number[] = [];
    while (ids.length < COUNT) {
      const { id } = await placeOrder(api, keys[0]);
      const { ending } = ENDINGS[(ids.length % 3) - 1] ?? {};
      if (ending !== undefined) await end(api, ending, id, keys[0]);
      ids.push(id);
      // An order of another account between every two orders.
      await placeOrder(api, other);
    }
    orders = await Promise.all(ids.map(async (id) => orderOf(await get(api, `${ORDERS}/${id}`, keys[0]))));
    cursor = nextPageOf(await list('?limit=1'))?.searchParams.get('cursor') ?? '';
  });

  const list = (query = '', key = keys[1]) => listOrders(api, query, key);

  it('answers 200 with a bare array of orders as they are by themselves, byte for byte', async () => {
    const response = await list('?limit=3');
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.body).toBe(`[${orders.slice(0, 3).map(bodyOf).join(',')}]`);
  });

  it('answers 200 with an empty array to a new account', async () => {
    const response = await list('', (await openKeys())[0]);
    expect(response).toMatchObject({ status: 200, body: '[]' });
    expect(response.headers).not.toHaveProperty('link');
  });

  it.each([...STATUSES])('answers 200 with every %s order of the account and no other', async (status) => {
    const expected = orders.filter((order) => order.status === status);
    expect(expected).toHaveLength(2);
    expect(ordersOf(await list(`?status=${status}`))).toEqual(expected);
  });

  it('is read in pages that have every order exactly once, in order', async () => {
    const pages = (await walk(api, `${ORDERS}?limit=4`, keys[0])).map(ordersOf);
    expect(pages.flat()).toEqual(orders);
    expect(pages).toHaveLength(2);
  });

  it('has an absolute Link to the next page, with limit, status and one cursor', async () => {
    const second = nextPageOf(await list('?limit=1&status=cancelled'));
    expect(second).toMatchObject({ origin: api.origin, pathname: ORDERS });
    expect(second?.search).toMatch(/^\?limit=1&status=cancelled&cursor=[\w-]+$/);
  });

  it.each<[string, () => readonly string[], RegExp]>([
    ['limit', () => ['0', '5&limit=5'], /^limit\b.*\b1\b.*\b100\b/],
    ['status', () => ['available', 'placed&status=placed'], /^status\b.*placed, completed, cancelled, expired/],
    ['cursor', () => ['', cursor.slice(0, -1), `${cursor}A`], /^cursor\b/],
  ])('answers 400 invalid_parameter to a bad %s', async (name, values, message) => {
    for (const value of values())
      expect(expectError(await list(`?${name}=${value}`), 400, 'invalid_parameter')).toMatch(message);
  });

  it('takes no cursor of the list of animals, nor that list one of orders', async () => {
    await addPet(api);
    await addPet(api);
    const pets = nextPageOf(await listPets(api, '?limit=1'))?.searchParams.get('cursor');
    expectError(await list(`?cursor=${pets}`), 400, 'invalid_parameter');
    expectError(await listPets(api, `?cursor=${cursor}`), 400, 'invalid_parameter');
  });
});
