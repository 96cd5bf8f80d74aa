import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { idsOf, listPets, nextPageOf } from '../support/pets-client.js';
import { request } from '../support/raw-http.js';

const api = useApi();
let cursor: string;

beforeAll(async () => {
  for (let index = 0; index < 130; index += 1) {
    await api.application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
  }
  cursor = nextPageOf(await listPets(api, '?limit=100'))?.searchParams.get('cursor') ?? '';
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const encoded = (text: string) => Buffer.from(text).toString('base64url');

async function expectRefused(query: string, message: RegExp): Promise<void> {
  expect(expectError(await listPets(api, query), 400, 'invalid_parameter')).toMatch(message);
}

describe('GET /v1/pets answers 400 invalid_parameter to a limit', () => {
  it.each([
    ['of 0', 'limit=0'],
    ['of -0', 'limit=-0'],
    ['of 101', 'limit=101'],
    ['of 110', 'limit=110'],
    ['of 1000', 'limit=1000'],
    ['beyond int64', 'limit=99999999999999999999'],
    ['below 0', 'limit=-1'],
    ['with a leading zero', 'limit=01'],
    ['with a leading zero of three digits', 'limit=010'],
    ['with an encoded plus', 'limit=%2B5'],
    ['with a plus, which is a space', 'limit=+5'],
    ['with a fraction', 'limit=1.0'],
    ['with half an animal', 'limit=1.5'],
    ['with an exponent', 'limit=1e1'],
    ['in hexadecimal', 'limit=0x10'],
    ['in binary', 'limit=0b1'],
    ['with a digit separator', 'limit=1_0'],
    ['that is empty', 'limit='],
    ['without a value', 'limit'],
    ['of a space', 'limit=%20'],
    ['with a space before', 'limit=%205'],
    ['with a space behind', 'limit=5%20'],
    ['with a line feed behind', 'limit=5%0A'],
    ['with U+0000 behind', 'limit=5%00'],
    ['of full-width digits', 'limit=%EF%BC%95'],
    ['of Arabic digits', 'limit=%D9%A5'],
    ['of a superscript digit', 'limit=%C2%B2'],
    ['that is a word', 'limit=ten'],
    ['of null', 'limit=null'],
    ['of NaN', 'limit=NaN'],
    ['of Infinity', 'limit=Infinity'],
    ['of true', 'limit=true'],
    ['with a comma', 'limit=5,6'],
    ['with a semicolon', 'limit=5;limit=6'],
    ['in quotes', 'limit=%225%22'],
    ['as a JSON array', 'limit=[5]'],
    ['that is given twice', 'limit=5&limit=6'],
    ['that is given twice alike', 'limit=5&limit=5'],
    ['that is given twice, once encoded', 'limit=5&li%6Dit=5'],
    ['that is given twice, once empty', 'limit=5&limit='],
    ['that has a bad percent-encoding', 'limit=%zz'],
  ])('%s', async (_case, query) => {
    await expectRefused(`?${query}`, /^limit\b.*\b1\b.*\b100\b/);
  });
});

describe('GET /v1/pets answers 400 invalid_parameter to a status', () => {
  it.each([
    ['that is unknown', 'status=adopted'],
    ['that is empty', 'status='],
    ['without a value', 'status'],
    ['in another case', 'status=Available'],
    ['in capitals', 'status=SOLD'],
    ['with a space behind', 'status=sold%20'],
    ['with a line feed behind', 'status=sold%0A'],
    ['that is a list', 'status=available,sold'],
    ['that is given twice', 'status=available&status=sold'],
    ['that is given twice alike', 'status=sold&status=sold'],
    ['that is cut short', 'status=avail'],
    ['of null', 'status=null'],
    ['that is a property every object has', 'status=constructor'],
    ['that is an index', 'status=0'],
  ])('%s', async (_case, query) => {
    await expectRefused(`?${query}`, /^status\b.*available, pending, sold/);
  });
});

describe('GET /v1/pets answers 400 invalid_parameter to an id', () => {
  it.each([
    ['that is empty', 'id='],
    ['without a value', 'id'],
    ['with a fraction', 'id=1.5'],
    ['with a zero fraction', 'id=1.0'],
    ['with an exponent', 'id=1e3'],
    ['with a plus', 'id=%2B1'],
    ['with a leading zero', 'id=01'],
    ['of 2^63', 'id=9223372036854775808'],
    ['of -2^63-1', 'id=-9223372036854775809'],
    ['of a thousand digits', `id=${'9'.repeat(1_000)}`],
    ['that is a word', 'id=abc'],
    ['that is a list', 'id=1,2'],
    ['in hexadecimal', 'id=0x1'],
    ['of bigint notation', 'id=1n'],
    ['of a sign alone', 'id=-'],
    ['with a space before', 'id=%201'],
    ['with a line feed behind', 'id=1%0A'],
    ['of full-width digits', 'id=%EF%BC%91'],
    ['of null', 'id=null'],
    ['that is one of several, the others fine', 'id=1&id=x&id=2'],
    ['that is the last of several, the others fine', 'id=1&id=2&id='],
  ])('%s', async (_case, query) => {
    await expectRefused(`?${query}`, /^id\b.*-9223372036854775808.*9223372036854775807/);
  });

  it.each([
    ['101 times', Array.from({ length: 101 }, (_, index) => String(index))],
    ['101 times the same', Array.from({ length: 101 }, () => '1')],
    ['400 times', Array.from({ length: 400 }, (_, index) => String(index))],
  ])('given %s', async (_case, ids) => {
    await expectRefused(`?${ids.map((id) => `id=${id}`).join('&')}`, /^id\b.*\b100\b/);
  });
});

describe('GET /v1/pets answers 400 invalid_parameter to a cursor', () => {
  it.each([
    ['that is empty', () => ''],
    ['that is a word', () => 'next'],
    ['that is a number', () => '100'],
    ['that is not base64', () => '%F0%9F%90%88'],
    ['of spaces', () => '%20%20'],
    ['that is cut short', () => cursor.slice(0, -1)],
    ['that is cut at its start', () => cursor.slice(1)],
    ['with a character behind', () => `${cursor}A`],
    ['with padding behind', () => `${cursor}=`],
    ['with white space behind', () => `${cursor}%20`],
    ['with white space inside', () => `${cursor.slice(0, 4)}%20${cursor.slice(4)}`],
    ['in another case', () => cursor.toLowerCase()],
    ['whose first character was changed', () => `A${cursor.slice(1)}`],
    ['whose last character was changed', () => `${cursor.slice(0, -1)}B`],
    ['that is given twice', () => `${cursor}&cursor=${cursor}`],
    ['of another resource', () => encoded('orders:100')],
    ['of another resource with a name of that length', () => encoded('cats:100')],
    ['of nobody', () => encoded(':100')],
    ['that ends nowhere', () => encoded('pets:')],
    ['that ends at no integer', () => encoded('pets:abc')],
    ['that ends at a fraction', () => encoded('pets:1.5')],
    ['that ends at a leading zero', () => encoded('pets:0100')],
    ['that ends beyond int64', () => encoded('pets:9223372036854775808')],
    ['that ends at SQL', () => encoded("pets:1' OR '1'='1")],
    ['of JSON', () => encoded('{"after":100}')],
    ['of four thousand characters', () => 'A'.repeat(4_000)],
  ])('%s', async (_case, text) => {
    await expectRefused(`?cursor=${text()}`, /^cursor\b/);
  });

  it('that is cut short anywhere, rather than go on from the wrong place', async () => {
    const cuts = Array.from({ length: cursor.length - 1 }, (_, index) => cursor.slice(0, index + 1));
    const statuses = await Promise.all(cuts.map(async (cut) => [cut, (await listPets(api, `?cursor=${cut}`)).status]));
    expect(statuses.filter(([, status]) => status !== 400)).toEqual([]);
  });

  it('but takes the cursor these were made of', async () => {
    expect(idsOf(await listPets(api, `?cursor=${cursor}&limit=100`))).toHaveLength(30);
  });
});

describe('GET /v1/pets answers 401', () => {
  it.each([
    ['a valid query', ''],
    ['a bad limit', '?limit=0'],
    ['a bad status', '?status=x'],
    ['a bad id', '?id=x'],
    ['a bad cursor', '?cursor=x'],
  ])('to no key and %s', async (_case, query) => {
    expectError(await request(api, `/v1/pets${query}`), 401, 'missing_api_key');
  });

  it('to a bad key before it looks at the query', async () => {
    const headers = { Authorization: 'Bearer nonsense' };
    expectError(await request(api, '/v1/pets?limit=0', { headers }), 401, 'invalid_api_key');
  });
});
