import { DEFAULT_ORDER_TTL, MINUTE, ORDER_STATUSES } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, get, nextPageOf, walk } from './support/pets-client.js';
import { type RawResponse, request, sendRaw } from './support/raw-http.js';
import { end, listOrders, type Order, orderOf, ORDERS, ordersOf, placeOrder } from './support/store-client.js';

const COUNT = 32;

const api = useApi();
let key: string;
let orders: readonly Order[];

beforeAll(async () => {
  ({ key } = await api.openKey());
  const { key: other } = await api.openKey();
  const ids: number[] = [];
  const place = async () => {
    const { id } = await placeOrder(api, key);
    ids.push(id);
    // An order of another account between every two orders.
    await placeOrder(api, other);
    return id;
  };
  while (ids.length < 24) {
    await end(api, 'complete', await place(), key);
    await end(api, 'cancel', await place(), key);
    await place();
  }
  api.clock.advance(DEFAULT_ORDER_TTL);
  await api.application.expireOrders.execute();
  while (ids.length < COUNT) await place();
  orders = await Promise.all(ids.map(async (id) => orderOf(await get(api, `${ORDERS}/${id}`, key))));
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const list = (query = '') => listOrders(api, query, key);
const idsOf = (response: RawResponse) => ordersOf(response).map(({ id }) => id);
const idsFrom = (start: number, stop?: number) => orders.slice(start, stop).map(({ id }) => id);
const walkIds = async (query: string) => (await walk(api, `${ORDERS}${query}`, key)).map(idsOf);

describe('GET /v1/store/orders answers 200', () => {
  it('with a bare array of orders as they are by themselves, byte for byte', async () => {
    const response = await list('?limit=3');
    expect(response.headers['content-type']).toBe(JSON_CONTENT_TYPE);
    const alone = await Promise.all(idsFrom(0, 3).map((id) => get(api, `${ORDERS}/${id}`, key)));
    expect(response.body).toBe(`[${alone.map(({ body }) => body).join(',')}]`);
    expectLimitHeaders(response);
  });

  it('with the first 20 orders where no limit is given', async () => {
    expect(idsOf(await list())).toEqual(idsFrom(0, 20));
  });

  it.each([1, 2, 19, 20, 21, 31, 32])('with exactly the first %i for that limit', async (limit) => {
    expect(idsOf(await list(`?limit=${limit}`))).toEqual(idsFrom(0, limit));
  });

  it('with every order of the account, ascending by id, and no other', async () => {
    expect(ordersOf(await list('?limit=100'))).toEqual(orders);
    expect(idsFrom(0)).toEqual(idsFrom(0).sort((one, other) => one - other));
  });

  it.each([...ORDER_STATUSES])('with every %s order of the account and no other', async (status) => {
    const expected = orders.filter((order) => order.status === status);
    expect(expected).toHaveLength(8);
    expect(ordersOf(await list(`?status=${status}&limit=100`))).toEqual(expected);
  });

  it('with the same orders to each key of the account', async () => {
    const { account, key: one } = await api.openKey();
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const placed = [await placeOrder(api, one), await placeOrder(api, other)];
    expect(ordersOf(await listOrders(api, '', one))).toEqual(placed);
    expect(ordersOf(await listOrders(api, '', other))).toEqual(placed);
  });

  it('with an empty array to an account that has ordered nothing', async () => {
    const { key: idle } = await api.openKey();
    const response = await listOrders(api, '', idle);
    expect(response).toMatchObject({ status: 200, body: '[]' });
    expect(response.headers).not.toHaveProperty('link');
  });
});

describe('the Link header of GET /v1/store/orders', () => {
  it('leads to the page that follows, by an absolute URL on the host that was asked', async () => {
    const next = nextPageOf(await list('?limit=5'));
    expect(next).toMatchObject({ origin: api.origin, pathname: ORDERS });
    expect(idsOf(await list(next?.search))).toEqual(idsFrom(5, 10));
  });

  it('is built on the name the client calls the service by', async () => {
    const bytes = `GET ${ORDERS}?limit=5 HTTP/1.1\r\nHost: pets.example:8443\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const [response] = await sendRaw(api, bytes);
    expect(response && nextPageOf(response)?.origin).toBe('http://pets.example:8443');
  });

  it('keeps limit and status, and has one cursor', async () => {
    const second = nextPageOf(await list('?limit=2&status=cancelled'));
    const third = nextPageOf(await list(second?.search))?.searchParams;
    expect([...(third ?? [])].slice(0, 2)).toEqual([
      ['limit', '2'],
      ['status', 'cancelled'],
    ]);
    expect([...(third?.keys() ?? [])]).toEqual(['limit', 'status', 'cursor']);
  });

  it('adds nothing that was not asked for', async () => {
    expect([...(nextPageOf(await list())?.searchParams.keys() ?? [])]).toEqual(['cursor']);
  });

  it.each([`?limit=${COUNT}`, '?limit=100', '?limit=8&status=expired'])(
    'is absent where %s leaves none',
    async (query) => {
      expect((await list(query)).headers).not.toHaveProperty('link');
    },
  );

  it.each([`?limit=${COUNT - 1}`, '?limit=7&status=expired'])('is there where %s leaves one', async (query) => {
    expect((await list(query)).headers).toHaveProperty('link');
  });

  it('is the same in the answer to HEAD', async () => {
    const head = await request(api, `${ORDERS}?limit=5`, { method: 'HEAD', headers: bearer(key) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['link']).toBe((await list('?limit=5')).headers['link']);
  });
});

describe('a walk of all pages of orders', () => {
  it.each([1, 7, 16, 31, 32, 100])('by %i meets every order of the account exactly once, in order', async (limit) => {
    const pages = await walkIds(`?limit=${limit}`);
    expect(pages.flat()).toEqual(idsFrom(0));
    expect(pages).toHaveLength(Math.ceil(COUNT / limit));
  });

  it.each([...ORDER_STATUSES])('of %s meets exactly the orders of that status', async (status) => {
    const expected = orders.filter((order) => order.status === status).map(({ id }) => id);
    expect((await walkIds(`?limit=3&status=${status}`)).flat()).toEqual(expected);
  });

  it.each([7, 20])('by %i meets every order exactly once while four clients place others', async (limit) => {
    const before = (await walkIds('?limit=100')).flat();
    const client = async () => {
      for (let index = 0; index < 10; index += 1) await placeOrder(api, key);
    };
    const clients = [client(), client(), client(), client()];
    const met = (await walkIds(`?limit=${limit}`)).flat();
    await Promise.all(clients);
    expect(met.filter((id) => before.includes(id))).toEqual(before);
    expect(met).toEqual([...new Set(met)].sort((one, other) => one - other));
  });

  it('meets every order exactly once while they are ended', async () => {
    const { key: own } = await api.openKey();
    const placed: number[] = [];
    while (placed.length < 12) placed.push((await placeOrder(api, own)).id);
    const met: number[] = [];
    for (let query: string | undefined = '?limit=5'; query !== undefined;) {
      const response = await listOrders(api, query, own);
      met.push(...idsOf(response));
      for (const id of placed.slice(met.length - 2, met.length + 2)) await end(api, 'complete', id, own);
      query = nextPageOf(response)?.search;
    }
    expect(met).toEqual(placed);
  });

  it("with another account's cursor goes on among one's own orders", async () => {
    const { key: other } = await api.openKey();
    const own = await placeOrder(api, other);
    const next = nextPageOf(await list('?limit=5'))?.search;
    expect(ordersOf(await listOrders(api, next, other))).toEqual([own]);
  });
});
