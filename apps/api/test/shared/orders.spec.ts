import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectError, expectHeadError, expectLimitHeaders, JSON_CONTENT_TYPE } from '../support/expectations.js';
import { bearer, get, listPets, nextPageOf, walk } from '../support/pets-client.js';
import { request, sendRaw } from '../support/raw-http.js';
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

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ENDINGS = [
  { ending: 'complete', status: 'completed', pet: 'sold' },
  { ending: 'cancel', status: 'cancelled', pet: 'available' },
] as const;
/** No id of an order. */
const NO_IDS = [
  '999999999',
  '0',
  '9223372036854775808',
  '9'.repeat(8_000),
  '',
  'mine',
  '1.0',
  '%2B1',
  '01',
  '-',
].concat('%201', '1%00', '1%2F', '%EF%BC%91', ':orderId', '__proto__', '*', '%F0%9F%90%88');

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
    expect(order.createdAt).toMatch(INSTANT);
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

  it('up to the limit of an account, and 409 too_many_orders beyond, also under Idempotency-Keys', async () => {
    const [key] = await openKeys();
    const pets = await Promise.all(Array.from({ length: 110 }, () => addPet(api)));
    const order = (petId: number, index: number) =>
      postOrder(api, `{"petId":${petId}}`, {
        'Content-Type': 'application/json',
        ...(index % 2 === 0 && { 'Idempotency-Key': `order-${petId}` }),
        ...bearer(key),
      });
    // Ten at a time, because the orders of an account wait for each other, and no request waits for long.
    const answers = [];
    for (let begun = 0; begun < pets.length; begun += 10) {
      answers.push(...(await Promise.all(pets.slice(begun, begun + 10).map((pet, index) => order(pet, index)))));
    }
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(10);
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
  it.each(['999999999', '0', '-1', '9223372036854775806', '-9223372036854775807'])(
    '404 not_found to the petId %s',
    async (petId) => {
      expect(expectError(await postOrder(api, `{"petId":${petId}}`), 404, 'not_found')).toContain(petId);
    },
  );

  it.each([
    ['is missing', '{"PetId":1,"pet_id":1,"order":{"petId":1}}'],
    ['is null', '{"petId":null}'],
    ['is a string of digits', '{"petId":"1"}'],
    ['is a string of U+0000 that was escaped twice', String.raw`{"petId":"\\u0000"}`],
    ['has a zero fraction', '{"petId":1.0}'],
    ['is 2^63', '{"petId":9223372036854775808}'],
  ])('400 invalid_parameter where petId %s', async (_case, body) => {
    expect(expectError(await postOrder(api, body), 400, 'invalid_parameter')).toMatch(/^petId\b/);
  });

  it('400 to what is no object of JSON or another media type, 413 and 401, and the animal stays', async () => {
    const petId = await addPet(api);
    const good = `{"petId":${petId}}`;
    for (const body of ['', `[${good}]`, 'null', `{"petId":${petId},"petId":${petId}}`, `{"petId":0${petId}}`])
      expectError(await postOrder(api, body), 400, 'invalid_json');
    expectError(await postOrder(api, good, {}), 400, 'unsupported_media_type');
    expectError(await postOrder(api, good, { 'Content-Type': 'text/plain' }), 400, 'unsupported_media_type');
    expectError(await postOrder(api, good.padEnd(65_537)), 413, 'payload_too_large');
    expectError(await request(api, ORDERS, { method: 'POST', body: '{' }), 401, 'missing_api_key');
    expect(await petStatus(api, petId)).toBe('available');
  });
});

describe('GET /v1/store/orders/{orderId} answers', () => {
  it("200 to each of the account's keys, to percent-encoded digits, and to HEAD without the body", async () => {
    const [one, other] = await openKeys();
    const order = await placeOrder(api, one);
    const response = await get(api, `${ORDERS}/${order.id}`, other);
    expect(response).toMatchObject({
      status: 200,
      body: bodyOf(order),
      headers: { 'content-type': JSON_CONTENT_TYPE },
    });
    expectLimitHeaders(response);
    const digits = [...String(order.id)].map((digit) => `%3${digit}`).join('');
    expect(orderOf(await get(api, `${ORDERS}/${digits}`, one))).toEqual(order);
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

  it.each(NO_IDS)('404 not_found to the orderId %s, and 401 to no key', async (id) => {
    expectError(await get(api, `${ORDERS}/${id}`), 404, 'not_found');
    expectHeadError(await request(api, `${ORDERS}/${id}`, { method: 'HEAD', headers: bearer(api.key) }), 404);
    expectError(await request(api, `${ORDERS}/${id}`), 401, 'missing_api_key');
  });
});

describe.each(ENDINGS)('POST /v1/store/orders/{orderId}/$ending', ({ ending, status, pet }) => {
  it(`answers 200 with the order, which is ${status} now, as every later answer has it, and the animal is ${pet}`, async () => {
    const order = await placeOrder(api);
    const response = await end(api, ending, order.id);
    const ended = orderOf(response);
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.body).toBe(bodyOf({ ...order, status, updatedAt: ended.updatedAt }));
    expect(ended.updatedAt).toMatch(INSTANT);
    expect(Date.parse(ended.updatedAt)).toBeGreaterThanOrEqual(Date.parse(order.createdAt));
    expectLimitHeaders(response);
    await expectStays(ended);
    expect((await listOrders(api, `?status=${status}&limit=100`)).body).toContain(response.body);
    expect(await petStatus(api, order.petId)).toBe(pet);
  });

  it.each<[string, Parameters<typeof request>[2] & object]>([
    ['no Content-Type', {}],
    ['a body that is not JSON', { headers: { 'Content-Type': 'application/json' }, body: '{' }],
    ['a body of a megabyte', { body: 'x'.repeat(1_000_000) }],
  ])('answers 200 with %s, for no body is looked at', async (_case, options) => {
    const { id } = await placeOrder(api);
    const headers = { ...options.headers, ...bearer(api.key) };
    const response = await request(api, `${ORDERS}/${id}/${ending}`, { ...options, method: 'POST', headers });
    expect(orderOf(response)).toMatchObject({ id, status });
  });

  it.each(ENDINGS)(`answers 409 order_final once it is $status, and nothing changes`, async (before) => {
    const { id, petId } = await placeOrder(api);
    const ended = orderOf(await end(api, before.ending, id));
    expect(expectError(await end(api, ending, id), 409, 'order_final')).toContain(before.status);
    await expectStays(ended);
    expect(await petStatus(api, petId)).toBe(before.pet);
  });

  it('answers 409 order_final of an order before the one its animal has now, which stays', async () => {
    const former = await placeOrder(api);
    orderOf(await end(api, 'cancel', former.id));
    const latter = orderOf(await orderPet(api, former.petId), 201);
    expectError(await end(api, ending, former.id), 409, 'order_final');
    await expectStays(latter);
  });

  it("answers 404 not_found to another account's order, be it final or not, and 401 to no key", async () => {
    const [[key], order] = [await openKeys(), await placeOrder(api)];
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
    const path = `${ORDERS}/${order.id}/${ending}`;
    expectError(await request(api, path, { method: 'POST' }), 401, 'missing_api_key');
    await expectStays(order);
    orderOf(await end(api, 'cancel', order.id));
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
  });

  it('answers 404 not_found to an id that no order has', async () => {
    for (const id of NO_IDS) expectError(await end(api, ending, id), 404, 'not_found');
  });
});

describe('GET /v1/store/orders', () => {
  const COUNT = 24;
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
    cursor = nextPageOf(await list('?limit=5'))?.searchParams.get('cursor') ?? '';
  });

  const list = (query = '', key = keys[1]) => listOrders(api, query, key);

  it('answers 200 with a bare array of orders as they are by themselves, byte for byte', async () => {
    const response = await list('?limit=3');
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    expect(response.body).toBe(`[${orders.slice(0, 3).map(bodyOf).join(',')}]`);
    expectLimitHeaders(response);
  });

  it('answers 200 with the first 20 orders where no limit is given, and an empty array to a new account', async () => {
    expect(ordersOf(await list())).toEqual(orders.slice(0, 20));
    const response = await list('', (await openKeys())[0]);
    expect(response).toMatchObject({ status: 200, body: '[]' });
    expect(response.headers).not.toHaveProperty('link');
  });

  it.each([...STATUSES])('answers 200 with every %s order of the account and no other', async (status) => {
    const expected = orders.filter((order) => order.status === status);
    expect(expected).toHaveLength(8);
    expect(ordersOf(await list(`?status=${status}&limit=100`))).toEqual(expected);
    expect((await walk(api, `${ORDERS}?limit=3&status=${status}`, keys[0])).flatMap(ordersOf)).toEqual(expected);
  });

  it.each([1, 7, 23, 24, 100])('is read by %i so that every order is met exactly once, in order', async (limit) => {
    const pages = (await walk(api, `${ORDERS}?limit=${limit}`, keys[0])).map(ordersOf);
    expect(pages.flat()).toEqual(orders);
    expect(pages.map(({ length }) => length).slice(0, -1)).toEqual(pages.slice(0, -1).map(() => limit));
    expect(pages).toHaveLength(Math.ceil(COUNT / limit));
  });

  it('has an absolute Link to the next page on the host that was asked, with limit, status and one cursor', async () => {
    const path = `${ORDERS}?limit=2&status=cancelled`;
    const [other] = await sendRaw(
      api,
      `GET ${path} HTTP/1.1\r\nHost: a.example:8443\r\nAuthorization: Bearer ${keys[0]}\r\n\r\n`,
    );
    expect(other && nextPageOf(other)?.origin).toBe('http://a.example:8443');
    const second = nextPageOf(await get(api, path, keys[0]));
    expect(second).toMatchObject({ origin: api.origin, pathname: ORDERS });
    const third = nextPageOf(await list(second?.search));
    expect(third?.search).toMatch(/^\?limit=2&status=cancelled&cursor=[\w-]+$/);
    expect([...(nextPageOf(await list())?.searchParams.keys() ?? [])]).toEqual(['cursor']);
    const head = await request(api, `${ORDERS}?limit=5`, { method: 'HEAD', headers: bearer(keys[0]) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['link']).toBe((await list('?limit=5')).headers['link']);
  });

  it("goes on from another account's cursor among one's own orders", async () => {
    const [key] = await openKeys();
    const own = await placeOrder(api, key);
    expect(ordersOf(await list(`?cursor=${cursor}`, key))).toEqual([own]);
  });

  it.each<[string, () => readonly string[], RegExp]>([
    ['limit', () => ['0', '101', '01', '1.0', '', '5%00', '%EF%BC%95', '5&limit=5'], /^limit\b.*\b1\b.*\b100\b/],
    [
      'status',
      () => ['adopted', 'available', '', 'Placed', 'placed%00', 'placed,expired', 'placed&status=placed'],
      /^status\b.*placed, completed, cancelled, expired/,
    ],
    ['cursor', () => ['', '1', '%00', cursor.slice(0, -1), `${cursor}A`, `${cursor}&cursor=${cursor}`], /^cursor\b/],
  ])('answers 400 invalid_parameter to a bad %s, and 401 to no key', async (name, values, message) => {
    for (const value of values()) {
      expect(expectError(await list(`?${name}=${value}`), 400, 'invalid_parameter')).toMatch(message);
      expectError(await request(api, `${ORDERS}?${name}=${value}`), 401, 'missing_api_key');
    }
  });

  it('takes no cursor of the list of animals, nor that list one of orders', async () => {
    await addPet(api);
    await addPet(api);
    const pets = nextPageOf(await listPets(api, '?limit=1'))?.searchParams.get('cursor');
    expectError(await list(`?cursor=${pets}`), 400, 'invalid_parameter');
    expectError(await listPets(api, `?cursor=${cursor}`), 400, 'invalid_parameter');
  });
});
