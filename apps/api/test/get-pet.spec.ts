import { type Instant, instant, later, MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useApi } from './support/api.js';
import { expectError, expectHeadError, JSON_CONTENT_TYPE } from './support/expectations.js';
import { bearer, get, idsOf } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';

const SUNSET = instant(Date.UTC(2030, 11, 5));

const api = useApi();
let today: Instant;
let id: bigint;

beforeAll(async () => {
  today = api.clock.now();
  ({ id } = await api.application.addAnimal.execute({ name: 'Luna', categoryId: 9_007_199_254_740_993n }));
  const client = new pg.Client(api.databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO animals (id, name, category_id, status) VALUES
       (9223372036854775807, 'Last', 1, 'sold'), (-9223372036854775808, 'First', 1, 'pending')`,
  );
  await client.end();
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  today = later(today, MINUTE);
  api.clock.set(today);
});

/** The targets of a Link header by relation. */
function linksOf({ headers }: RawResponse): Readonly<Record<string, string>> {
  const links = [...(headers['link'] ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)];
  return Object.fromEntries(links.map(([, target = '', relation = '']) => [relation, target] as const));
}

function expectDeprecated({ headers }: RawResponse): void {
  expect(headers).toMatchObject({ deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
}

describe('GET /v1/pets/{petId} answers 200', () => {
  it('with the animal, every digit of it', async () => {
    const response = await get(api, `/v1/pets/${id}`);
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': JSON_CONTENT_TYPE } });
    expect(response.body).toBe(`{"id":${id},"name":"Luna","categoryId":9007199254740993,"status":"available"}`);
  });

  it.each(['9223372036854775807', '-9223372036854775808'])('for the animal %s', async (petId) => {
    const response = await get(api, `/v1/pets/${petId}`);
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toMatch(new RegExp(`^{"id":${petId},`));
    expect(linksOf(response)['successor-version']).toBe(`${api.origin}/v1/pets?id=${petId}`);
    const { status } = JSON.parse(response.body) as { readonly status: string };
    expect((await get(api, `/v1/pets?status=${status}`)).body).toContain(`{"id":${petId},`);
  });

  it('and takes percent-encoded digits for the digits', async () => {
    const digits = [...String(id)].map((digit) => `%3${digit}`).join('');
    expect(await get(api, `/v1/pets/${digits}`)).toMatchObject({ status: 200 });
  });

  it('to HEAD as to GET, without the body', async () => {
    const { headers, status, body } = await request(api, `/v1/pets/${id}`, {
      method: 'HEAD',
      headers: bearer(api.key),
    });
    expect({ status, body }).toEqual({ status: 200, body: '' });
    const { headers: expected } = await get(api, `/v1/pets/${id}`);
    for (const name of ['content-type', 'content-length', 'deprecation', 'sunset', 'link']) {
      expect([name, headers[name]]).toEqual([name, expected[name]]);
    }
  });
});

describe('GET /v1/pets/{petId} says that it is deprecated', () => {
  it('since 5 December 2025, as RFC 9745 writes it', async () => {
    expect((await get(api, `/v1/pets/${id}`)).headers['deprecation']).toBe('@1764892800');
  });

  it('until 5 December 2030, as RFC 8594 writes it', async () => {
    expect((await get(api, `/v1/pets/${id}`)).headers['sunset']).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  });

  it('with a successor that lists the same animal', async () => {
    const successor = linksOf(await get(api, `/v1/pets/${id}`))['successor-version'];
    expect(successor).toBe(`${api.origin}/v1/pets?id=${id}`);
    expect(idsOf(await get(api, `/v1/pets?id=${id}`))).toEqual([Number(id)]);
  });

  it('with a page on it', async () => {
    expect(linksOf(await get(api, `/v1/pets/${id}`))['deprecation']).toBe(`${api.origin}/docs`);
  });

  it('on 404 too', async () => {
    const response = await get(api, '/v1/pets/999999');
    expectDeprecated(response);
    expect(linksOf(response)['successor-version']).toBe(`${api.origin}/v1/pets?id=999999`);
  });

  it.each(['/v1/pets', '/v1/pets?id=1'])('and that %s is not', async (path) => {
    const { headers } = await get(api, path);
    expect(headers).not.toHaveProperty('deprecation');
    expect(headers).not.toHaveProperty('sunset');
  });
});

describe('GET /v1/pets/{petId} answers 404 not_found to a petId', () => {
  it.each([
    ['that is unknown', '999999'],
    ['of 0', '0'],
    ['below 0', '-1'],
    ['of the greatest int64 but one', '9223372036854775806'],
    ['of 2^63', '9223372036854775808'],
    ['of -2^63-1', '-9223372036854775809'],
    ['of 2^64+1', '18446744073709551617'],
    ['of 200 digits', '9'.repeat(200)],
    ['of 8,000 digits', '9'.repeat(8_000)],
    ['that is empty', ''],
    ['that is a word', 'luna'],
    ['with a fraction', '1.0'],
    ['with an exponent', '1e0'],
    ['with a plus', '+1'],
    ['with an encoded plus', '%2B1'],
    ['with a leading zero', '01'],
    ['in hexadecimal', '0x1'],
    ['of bigint notation', '1n'],
    ['of a sign alone', '-'],
    ['with a space before', '%201'],
    ['with a space behind', '1%20'],
    ['with a line feed behind', '1%0A'],
    ['with U+0000 behind', '1%00'],
    ['with an encoded slash behind', '1%2F'],
    ['of full-width digits', '%EF%BC%91'],
    ['that is a list', '1,2'],
    ['with a matrix parameter', '1;a=b'],
    ['with an extension', '1.json'],
    ['of null', 'null'],
    ['of NaN', 'NaN'],
    ['of a placeholder', ':petId'],
    ['of an encoded placeholder', '%7BpetId%7D'],
    ['of __proto__', '__proto__'],
    ['of constructor', 'constructor'],
    ['of an asterisk', '*'],
    ['of SQL', "1'%20OR%20'1'='1"],
    ['of an emoji', '%F0%9F%90%88'],
  ])('%s', async (_case, petId) => {
    expectError(await get(api, `/v1/pets/${petId}`), 404, 'not_found');
  });

  it('that is unknown, to HEAD without the body', async () => {
    expectHeadError(await request(api, '/v1/pets/999999', { method: 'HEAD', headers: bearer(api.key) }), 404);
  });
});

describe('GET /v1/pets/{petId} answers 410 gone', () => {
  it('not one millisecond before 5 December 2030', async () => {
    api.clock.set(later(SUNSET, -1));
    const response = await get(api, `/v1/pets/${id}`);
    expect(response).toMatchObject({ status: 200 });
    expectDeprecated(response);
  });

  it.each([
    ['from the first millisecond of that day', 0],
    ['a millisecond later', 1],
    ['ten years later', 10 * 365 * 24 * 60 * MINUTE],
  ])('%s', async (_case, milliseconds) => {
    api.clock.set(later(SUNSET, milliseconds));
    const response = await get(api, `/v1/pets/${id}`);
    expect(expectError(response, 410, 'gone')).toContain('/v1/pets?id=');
    expectDeprecated(response);
    expect(linksOf(response)['successor-version']).toBe(`${api.origin}/v1/pets?id=${id}`);
  });

  it.each([
    ['an unknown petId', '999999'],
    ['a malformed petId', 'luna'],
    ['a petId out of range', '9223372036854775808'],
  ])('to %s as well', async (_case, petId) => {
    api.clock.set(SUNSET);
    expectError(await get(api, `/v1/pets/${petId}`), 410, 'gone');
  });

  it('to HEAD as well', async () => {
    api.clock.set(SUNSET);
    expectHeadError(await request(api, `/v1/pets/${id}`, { method: 'HEAD', headers: bearer(api.key) }), 410);
  });

  it('while the successor goes on', async () => {
    api.clock.set(later(SUNSET, MINUTE));
    expect(idsOf(await get(api, `/v1/pets?id=${id}`))).toEqual([Number(id)]);
  });
});

describe('GET /v1/pets/{petId} answers 401', () => {
  it.each([
    ['a known petId', String],
    ['an unknown petId', () => '999999'],
    ['a malformed petId', () => 'luna'],
  ])('to no key and %s', async (_case, petId) => {
    expectError(await request(api, `/v1/pets/${petId(id)}`), 401, 'missing_api_key');
  });

  it('rather than 410 once the operation is gone', async () => {
    api.clock.set(SUNSET);
    expectError(await request(api, `/v1/pets/${id}`), 401, 'missing_api_key');
  });

  it('without a word on deprecation', async () => {
    expect((await request(api, `/v1/pets/${id}`)).headers).not.toHaveProperty('sunset');
  });
});
