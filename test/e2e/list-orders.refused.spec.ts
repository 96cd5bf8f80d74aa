import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { get, listPets, nextPageOf } from '../support/pets-client.js';
import { type RawResponse, request } from '../support/raw-http.js';
import { listOrders, ORDERS, placeOrder } from '../support/store-client.js';

const api = useApi();
let cursor: string;
let petsCursor: string;

beforeAll(async () => {
  await placeOrder(api);
  await placeOrder(api);
  cursor = cursorOf(await listOrders(api, '?limit=1'));
  petsCursor = cursorOf(await listPets(api, '?limit=1'));
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

function cursorOf(response: RawResponse): string {
  return nextPageOf(response)?.searchParams.get('cursor') ?? '';
}

async function expectRefused(query: string, message: RegExp): Promise<void> {
  expect(expectError(await listOrders(api, query), 400, 'invalid_parameter')).toMatch(message);
}

describe('GET /v1/store/orders answers 400 invalid_parameter to a limit', () => {
  it.each([
    ['of 0', 'limit=0'],
    ['of 101', 'limit=101'],
    ['below 0', 'limit=-1'],
    ['with a leading zero', 'limit=01'],
    ['with a fraction', 'limit=1.0'],
    ['with an exponent', 'limit=1e1'],
    ['that is empty', 'limit='],
    ['without a value', 'limit'],
    ['with U+0000 behind', 'limit=5%00'],
    ['with a line feed behind', 'limit=5%0A'],
    ['of full-width digits', 'limit=%EF%BC%95'],
    ['that is given twice', 'limit=5&limit=5'],
  ])('%s', async (_case, query) => {
    await expectRefused(`?${query}`, /^limit\b.*\b1\b.*\b100\b/);
  });
});

describe('GET /v1/store/orders answers 400 invalid_parameter to a status', () => {
  it.each([
    ['that is unknown', 'status=adopted'],
    ['that is an animal’s', 'status=available'],
    ['that is empty', 'status='],
    ['without a value', 'status'],
    ['in another case', 'status=Placed'],
    ['with U+0000 behind', 'status=placed%00'],
    ['that is a list', 'status=placed,expired'],
    ['that is given twice', 'status=placed&status=placed'],
    ['that is a property every object has', 'status=constructor'],
  ])('%s', async (_case, query) => {
    await expectRefused(`?${query}`, /^status\b.*placed, completed, cancelled, expired/);
  });
});

describe('GET /v1/store/orders answers 400 invalid_parameter to a cursor', () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64url');

  it.each([
    ['that is empty', () => ''],
    ['that is a word', () => 'next'],
    ['that is a number', () => '1'],
    ['of U+0000', () => '%00'],
    ['that is cut short', () => cursor.slice(0, -1)],
    ['with a character behind', () => `${cursor}A`],
    ['with padding behind', () => `${cursor}=`],
    ['in another case', () => cursor.toLowerCase()],
    ['that is given twice', () => `${cursor}&cursor=${cursor}`],
    ['of the list of animals', () => petsCursor],
    ['made without its check', () => encoded('orders:1')],
    ['that ends at SQL', () => encoded("orders:1' OR '1'='1")],
    ['of four thousand characters', () => 'A'.repeat(4_000)],
  ])('%s', async (_case, text) => {
    await expectRefused(`?cursor=${text()}`, /^cursor\b/);
  });

  it('but takes the cursors these were made of, each in its list', async () => {
    expect(await listOrders(api, `?cursor=${cursor}`)).toMatchObject({ status: 200 });
    expect(await listPets(api, `?cursor=${petsCursor}`)).toMatchObject({ status: 200 });
  });

  it('and so does the list of animals to one of orders', async () => {
    expect(expectError(await get(api, `/v1/pets?cursor=${cursor}`), 400, 'invalid_parameter')).toMatch(/^cursor\b/);
  });
});

describe('GET /v1/store/orders answers 401', () => {
  it.each(['', '?limit=0', '?status=x', '?cursor=x'])('to no key and the query "%s"', async (query) => {
    expectError(await request(api, `${ORDERS}${query}`), 401, 'missing_api_key');
  });
});
