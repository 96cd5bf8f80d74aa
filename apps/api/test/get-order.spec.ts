import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useApi } from './support/api.js';
import { expectError, expectHeadError, expectLimitHeaders, JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, get } from './support/pets-client.js';
import { request } from './support/raw-http.js';
import { listOrders, type Order, orderOf, ORDERS, placeOrder } from './support/store-client.js';

const GREATEST = '9223372036854775807';
const LEAST = '-9223372036854775808';

const api = useApi();
let order: Order;

beforeAll(async () => {
  order = await placeOrder(api);
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

describe('GET /v1/store/orders/{orderId} answers 200', () => {
  it('with the order, its properties in this order, and nothing else', async () => {
    const response = await get(api, `${ORDERS}/${order.id}`);
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': JSON_CONTENT_TYPE } });
    expect(response.body).toBe(
      `{"id":${order.id},"petId":${order.petId},"status":"placed","createdAt":"${order.createdAt}","updatedAt":"${order.createdAt}"}`,
    );
    expectLimitHeaders(response);
  });

  it.each([GREATEST, LEAST])('with every digit of the id %s', async (id) => {
    const client = new pg.Client(api.databaseUrl);
    await client.connect();
    const { id: placed } = await placeOrder(api);
    await client.query('UPDATE orders SET id = $1 WHERE id = $2', [id, placed]);
    await client.end();
    expect((await get(api, `${ORDERS}/${id}`)).body).toMatch(new RegExp(`^{"id":${id},`));
    expect((await listOrders(api, '?limit=100')).body).toContain(`{"id":${id},`);
  });

  it("to each of the account's keys", async () => {
    const { account, key } = await api.openKey();
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const { id } = await placeOrder(api, key);
    expect(orderOf(await get(api, `${ORDERS}/${id}`, other))).toMatchObject({ id });
  });

  it('to percent-encoded digits as to the digits', async () => {
    const digits = [...String(order.id)].map((digit) => `%3${digit}`).join('');
    expect(orderOf(await get(api, `${ORDERS}/${digits}`))).toEqual(order);
  });

  it('to HEAD as to GET, without the body', async () => {
    const path = `${ORDERS}/${order.id}`;
    const head = await request(api, path, { method: 'HEAD', headers: bearer(api.key) });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String((await get(api, path)).body.length));
  });
});

describe('GET /v1/store/orders/{orderId} answers 404 not_found', () => {
  it("to another account's order, as to an unknown one", async () => {
    const { key } = await api.openKey();
    const message = expectError(await get(api, `${ORDERS}/${order.id}`, key), 404, 'not_found');
    const unknown = expectError(await get(api, `${ORDERS}/999999`, key), 404, 'not_found');
    expect(message.replace(String(order.id), 'x')).toBe(unknown.replace('999999', 'x'));
  });

  it.each([
    ['that is unknown', '999999'],
    ['of 0', '0'],
    ['below 0', '-1'],
    ['of the greatest int64 but one', '9223372036854775806'],
    ['of 2^63', '9223372036854775808'],
    ['of -2^63-1', '-9223372036854775809'],
    ['of 2^64+1', '18446744073709551617'],
    ['of 8,000 digits', '9'.repeat(8_000)],
    ['that is empty', ''],
    ['that is a word', 'mine'],
    ['with a fraction', '1.0'],
    ['with an exponent', '1e0'],
    ['with an encoded plus', '%2B1'],
    ['with a leading zero', '01'],
    ['in hexadecimal', '0x1'],
    ['of a sign alone', '-'],
    ['with a space before', '%201'],
    ['with a line feed behind', '1%0A'],
    ['with U+0000 behind', '1%00'],
    ['of U+0000', '%00'],
    ['with an encoded slash behind', '1%2F'],
    ['of full-width digits', '%EF%BC%91'],
    ['of a placeholder', ':orderId'],
    ['of __proto__', '__proto__'],
    ['of an asterisk', '*'],
    ['of SQL', "1'%20OR%20'1'='1"],
    ['of an emoji', '%F0%9F%90%88'],
  ])('to an orderId %s', async (_case, orderId) => {
    expectError(await get(api, `${ORDERS}/${orderId}`), 404, 'not_found');
  });

  it('to HEAD of an unknown orderId, without the body', async () => {
    expectHeadError(await request(api, `${ORDERS}/999999`, { method: 'HEAD', headers: bearer(api.key) }), 404);
  });
});

describe('GET /v1/store/orders/{orderId} answers 401', () => {
  it.each([
    ['a known orderId', () => String(order.id)],
    ['an unknown orderId', () => '999999'],
    ['a malformed orderId', () => 'mine'],
  ])('to no key and %s', async (_case, orderId) => {
    expectError(await request(api, `${ORDERS}/${orderId()}`), 401, 'missing_api_key');
  });
});
