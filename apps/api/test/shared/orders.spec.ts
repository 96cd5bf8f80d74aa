import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  addPet,
  bearer,
  bodyOf,
  end,
  get,
  nextPageOf,
  type Order,
  orderOf,
  orderPet,
  ORDERS,
  PETS,
  petsOf,
  placeOrder,
  post,
  walk,
} from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';
import { openKeys, useSharedApi } from '../support/shared-api.js';

const ENDINGS = [
  { ending: 'complete', status: 'completed', pet: 'sold' },
  { ending: 'cancel', status: 'cancelled', pet: 'available' },
] as const;

const api = useSharedApi();

const jsonOf = ({ id, petId, status, createdAt, updatedAt }: Order) =>
  `{"id":${id},"petId":${petId},"status":"${status}","createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`;
const ordersOf = (response: RawResponse) => bodyOf(response) as readonly Order[];
const statusOf = async (petId: number) => petsOf(await get(api, `${PETS}?id=${petId}`))[0]?.status;

async function expectStays(order: Order): Promise<void> {
  expect(orderOf(await get(api, `${ORDERS}/${order.id}`))).toEqual(order);
}

describe('POST /v1/store/orders answers 201', () => {
  it('with the order, its properties in this order, and nothing else that was sent, at an absolute Location', async () => {
    const petId = await addPet(api);
    const begun = Date.now();
    const response = await post(api, ORDERS, { id: 7, status: 'completed', accountId: 9, createdAt: 0, petId });
    const order = orderOf(response, 201);
    expect(response.body).toBe(jsonOf({ ...order, petId, status: 'placed', updatedAt: order.createdAt }));
    expect(Date.parse(order.createdAt)).toBeGreaterThanOrEqual(begun);
    expect(Date.parse(order.createdAt)).toBeLessThanOrEqual(Date.now());
    const location = `${api.origin}${ORDERS}/${order.id}`;
    expect(response.headers).toMatchObject({ location });
    expect(await get(api, `${ORDERS}/${order.id}`)).toMatchObject({ status: 200, body: response.body });
    expect(await statusOf(petId)).toBe('pending');
  });

  it('up to the limit of an account, and 409 too_many_orders beyond, also under an Idempotency-Key', async () => {
    const [key] = await openKeys();
    const pets = await Promise.all(Array.from({ length: 101 }, () => addPet(api)));
    const petId = pets.pop() ?? 0;
    for (const each of pets) orderOf(await orderPet(api, each, key), 201);
    const again = await post(api, ORDERS, { petId }, { ...bearer(key), 'Idempotency-Key': 'over' });
    for (const response of [await orderPet(api, petId, key), again])
      expect(expectError(response, 409, 'too_many_orders')).toContain('100');
  });
});

describe('POST /v1/store/orders answers', () => {
  it('409 pet_not_available where another account has ordered it, of which nothing is told', async () => {
    const [key] = await openKeys();
    const { id, petId } = await placeOrder(api, key);
    const message = expectError(await orderPet(api, petId), 409, 'pet_not_available');
    expect(message.replace(String(petId), '')).not.toContain(String(id));
  });

  it('404 not_found to an unknown petId', async () => {
    expect(expectError(await orderPet(api, 999_999_999), 404, 'not_found')).toContain('999999999');
  });

  it.each(['{"PetId":1,"pet_id":1,"order":{"petId":1}}', '{"petId":9223372036854775808}'])(
    '400 invalid_parameter to %s',
    async (body) => {
      expect(expectError(await post(api, ORDERS, body), 400, 'invalid_parameter')).toMatch(/^petId\b/);
    },
  );
});

it("GET /v1/store/orders/{orderId} answers 200 to each of the account's keys", async () => {
  const [one, other] = await openKeys();
  const order = await placeOrder(api, one);
  expect(await get(api, `${ORDERS}/${order.id}`, other)).toMatchObject({ status: 200, body: jsonOf(order) });
});

describe.each(['get', 'complete', 'cancel'] as const)('to %s an order is answered 404 not_found', (way) => {
  const ask = (id: number | string, key?: string) =>
    way === 'get' ? get(api, `${ORDERS}/${id}`, key) : end(api, way, id, key);

  it("if it is another account's, final or not, in the words of an unknown one", async () => {
    const [{ id }, [key]] = [await placeOrder(api), await openKeys()];
    const unknown = expectError(await ask(999_999_999, key), 404, 'not_found').replace('999999999', String(id));
    expect(expectError(await ask(id, key), 404, 'not_found')).toBe(unknown);
    orderOf(await end(api, 'cancel', id));
    expect(expectError(await ask(id, key), 404, 'not_found')).toBe(unknown);
  });

  it.each(['9223372036854775808', '', 'mine', '1.0', '1%00'])('under the orderId %s', async (id) => {
    expectError(await ask(id), 404, 'not_found');
  });
});

describe.each(ENDINGS)('POST /v1/store/orders/{orderId}/$ending', ({ ending, status, pet }) => {
  it(`answers 200 with the order, which is ${status} now, as every later answer has it, and the animal is ${pet}`, async () => {
    const order = await placeOrder(api);
    const response = await end(api, ending, order.id);
    const ended = orderOf(response);
    expect(response.body).toBe(jsonOf({ ...order, status, updatedAt: ended.updatedAt }));
    expect(Date.parse(ended.updatedAt)).toBeGreaterThanOrEqual(Date.parse(order.createdAt));
    await expectStays(ended);
    expect(await statusOf(order.petId)).toBe(pet);
  });

  it('answers 409 order_final once it has ended, and nothing changes', async () => {
    const ended = orderOf(await end(api, 'cancel', (await placeOrder(api)).id));
    expect(expectError(await end(api, ending, ended.id), 409, 'order_final')).toContain('cancelled');
    await expectStays(ended);
  });
});

describe('GET /v1/store/orders', () => {
  const COUNT = 6;
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
    cursor = nextPageOf(await list('limit=1'))?.searchParams.get('cursor') ?? '';
  });

  const list = (query: string) => get(api, `${ORDERS}?${query}`, keys[1]);

  it('answers 200 with a bare array of orders as they are by themselves, byte for byte', async () => {
    const response = await list('limit=3');
    expect(response.body).toBe(`[${orders.slice(0, 3).map(jsonOf).join(',')}]`);
  });

  it.each(['placed', 'completed', 'cancelled'])(
    'answers 200 with every %s order of the account and no other',
    async (status) => {
      const expected = orders.filter((order) => order.status === status);
      expect(expected).toHaveLength(2);
      expect(ordersOf(await list(`status=${status}`))).toEqual(expected);
    },
  );

  it('is read in pages that have every order exactly once, in order', async () => {
    const pages = (await walk(api, `${ORDERS}?limit=4`, keys[0])).map(ordersOf);
    expect(pages.flat()).toEqual(orders);
    expect(pages).toHaveLength(2);
  });

  it.each<[string, () => readonly string[], RegExp]>([
    ['limit', () => ['0', '5&limit=5'], /^limit\b.*\b1\b.*\b100\b/],
    ['status', () => ['available', 'placed&status=placed'], /^status\b.*placed, completed, cancelled, expired/],
    ['cursor', () => ['', cursor.slice(0, -1), `${cursor}A`], /^cursor\b/],
  ])('answers 400 invalid_parameter to a bad %s', async (name, values, message) => {
    for (const value of values())
      expect(expectError(await list(`${name}=${value}`), 400, 'invalid_parameter')).toMatch(message);
  });

  it('takes no cursor of the list of animals, nor that list one of orders', async () => {
    await addPet(api);
    await addPet(api);
    const pets = nextPageOf(await get(api, `${PETS}?limit=1`))?.searchParams.get('cursor');
    expectError(await list(`cursor=${pets}`), 400, 'invalid_parameter');
    expectError(await get(api, `${PETS}?cursor=${cursor}`), 400, 'invalid_parameter');
  });
});
