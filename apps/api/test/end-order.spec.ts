import { HOUR, later, MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, get } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';
import {
  end,
  type Ending,
  listOrders,
  type Order,
  orderOf,
  orderPet,
  ORDERS,
  petStatus,
  placeOrder,
} from './support/store-client.js';

const ORDER_TTL = 48 * HOUR;
const ENDINGS = [
  { ending: 'complete', status: 'completed', pet: 'sold' },
  { ending: 'cancel', status: 'cancelled', pet: 'available' },
] as const;

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const nowText = () => new Date(api.clock.now()).toISOString();

async function expectStays(order: Order): Promise<void> {
  expect(orderOf(await get(api, `${ORDERS}/${order.id}`))).toEqual(order);
}

describe.each(ENDINGS)('POST /v1/store/orders/{orderId}/$ending', ({ ending, status, pet }) => {
  it(`answers 200 with the order, which is ${status} now, as every later answer has it`, async () => {
    const { id, petId, createdAt } = await placeOrder(api);
    api.clock.advance(1_234);
    const response = await end(api, ending, id);
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': JSON_CONTENT_TYPE } });
    expect(response.body).toBe(
      `{"id":${id},"petId":${petId},"status":"${status}","createdAt":"${createdAt}","updatedAt":"${nowText()}"}`,
    );
    expect((await get(api, `${ORDERS}/${id}`)).body).toBe(response.body);
    expect((await listOrders(api, `?status=${status}&limit=100`)).body).toContain(response.body);
  });

  it(`answers 200, and the animal is ${pet} from then on`, async () => {
    const { id, petId } = await placeOrder(api);
    expect(await petStatus(api, petId)).toBe('pending');
    orderOf(await end(api, ending, id));
    expect(await petStatus(api, petId)).toBe(pet);
  });

  it.each<[string, Parameters<typeof request>[2] & object]>([
    ['no Content-Type', {}],
    ['an empty body', { headers: { 'Content-Type': 'application/json' } }],
    ['a JSON body', { headers: { 'Content-Type': 'application/json' }, body: '{"status":"placed","id":1}' }],
    ['a body that is not JSON', { headers: { 'Content-Type': 'application/json' }, body: '{' }],
    ['a body of another media type', { headers: { 'Content-Type': 'text/plain' }, body: 'now' }],
    ['a Content-Encoding', { headers: { 'Content-Encoding': 'gzip' }, body: 'x' }],
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
    api.clock.advance(1);
    expect(expectError(await end(api, ending, id), 409, 'order_final')).toContain(before.status);
    await expectStays(ended);
    expect(await petStatus(api, petId)).toBe(before.pet);
  });

  it('answers 409 order_final once it has expired, and nothing changes', async () => {
    const { id, petId } = await placeOrder(api);
    api.clock.advance(ORDER_TTL);
    await api.application.expireOrders.execute();
    expect(expectError(await end(api, ending, id), 409, 'order_final')).toContain('expired');
    expect(await petStatus(api, petId)).toBe('available');
  });

  it('answers 409 order_final of an order before the one its animal has now, which stays', async () => {
    const former = await placeOrder(api);
    orderOf(await end(api, 'cancel', former.id));
    const latter = orderOf(await orderPet(api, former.petId), 201);
    expectError(await end(api, ending, former.id), 409, 'order_final');
    await expectStays(latter);
    expect(await petStatus(api, former.petId)).toBe('pending');
  });

  it("answers 404 not_found to another account's order, which stays, be it final or not", async () => {
    const { key } = await api.openKey();
    const order = await placeOrder(api);
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
    await expectStays(order);
    orderOf(await end(api, 'cancel', order.id));
    expectError(await end(api, ending, order.id, key), 404, 'not_found');
  });

  it.each([
    ['that is unknown', '999999'],
    ['of 0', '0'],
    ['below 0', '-1'],
    ['of the greatest int64', '9223372036854775807'],
    ['of 2^63', '9223372036854775808'],
    ['of 8,000 digits', '9'.repeat(8_000)],
    ['that is a word', 'mine'],
    ['with a fraction', '1.0'],
    ['with a leading zero', '01'],
    ['with U+0000 behind', '1%00'],
    ['with an encoded slash behind', '1%2F'],
    ['of an emoji', '%F0%9F%90%88'],
    ['of SQL', "1'%20OR%20'1'='1"],
    ['that is empty', ''],
  ])('answers 404 not_found to an orderId %s', async (_case, orderId) => {
    expectError(await end(api, ending, orderId), 404, 'not_found');
  });

  it('answers 401 to no key, whether or not there is such an order', async () => {
    const order = await placeOrder(api);
    for (const id of [order.id, 999_999, 'x']) {
      expectError(await request(api, `${ORDERS}/${id}/${ending}`, { method: 'POST' }), 401, 'missing_api_key');
    }
    await expectStays(order);
  });

  it('tells of the limits', async () => {
    const { id } = await placeOrder(api);
    expectLimitHeaders(await end(api, ending, id));
  });

  it('answers 200 once however many call at once, and 409 order_final to the others', async () => {
    const { id, petId } = await placeOrder(api);
    expectOneWinner(await Promise.all(Array.from({ length: 20 }, () => end(api, ending, id))));
    expect(await petStatus(api, petId)).toBe(pet);
  });
});

/** The only 200 among the 409s. */
function expectOneWinner(responses: readonly RawResponse[]): Order {
  const [winner, ...others] = [...responses].sort((one, other) => one.status - other.status);
  for (const response of others) expectError(response, 409, 'order_final');
  if (winner === undefined) throw new Error('nobody raced');
  return orderOf(winner);
}

describe('of completing and cancelling an order at once', () => {
  it.each(Array.from({ length: 10 }, (_, round) => round))(
    'one wins, and order and animal are as it left them, round %i',
    async (round) => {
      const { id, petId } = await placeOrder(api);
      const both: readonly Ending[] = round % 2 ? ['complete', 'cancel'] : ['cancel', 'complete'];
      const racers = [...both, ...both].map((ending) => end(api, ending, id));
      const winner = expectOneWinner(await Promise.all(racers));
      await expectStays(winner);
      expect(await petStatus(api, petId)).toBe(winner.status === 'completed' ? 'sold' : 'available');
    },
  );
});

describe('an order that is neither completed nor cancelled', () => {
  it('stays placed until the last millisecond of its 48 hours', async () => {
    const order = await placeOrder(api);
    api.clock.advance(ORDER_TTL - 1);
    await api.application.expireOrders.execute();
    await expectStays(order);
    expect(await petStatus(api, order.petId)).toBe('pending');
  });

  it('expires after 48 hours, and its animal can be ordered again', async () => {
    const order = await placeOrder(api);
    api.clock.set(later(api.clock.now(), ORDER_TTL));
    await api.application.expireOrders.execute();
    const expired = orderOf(await get(api, `${ORDERS}/${order.id}`));
    expect(expired).toEqual({ ...order, status: 'expired', updatedAt: nowText() });
    expect(await petStatus(api, order.petId)).toBe('available');
    expect(orderOf(await orderPet(api, order.petId), 201).id).toBeGreaterThan(order.id);
  });

  it('never changes an order that has ended', async () => {
    const completed = orderOf(await end(api, 'complete', (await placeOrder(api)).id));
    const cancelled = orderOf(await end(api, 'cancel', (await placeOrder(api)).id));
    api.clock.advance(ORDER_TTL);
    await api.application.expireOrders.execute();
    await expectStays(completed);
    await expectStays(cancelled);
    expect(await petStatus(api, completed.petId)).toBe('sold');
  });
});
