import { DAY, later, MINUTE, SECOND, startOf } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { bearer, rawHead, sendOnce } from '../support/pets-client.js';
import { request, type RawResponse } from '../support/raw-http.js';

/** Requests for its limits that a key may send in a minute. */
const ASKING_LIMIT = 60;

const api = useApi();

// Each test starts at midnight of its own day.
beforeEach(() => {
  api.clock.set(later(startOf(DAY, api.clock.now()), DAY));
});

const ask = (key: string) => request(api, '/v1/rate_limit', { headers: bearer(key) });
const list = (key: string) => request(api, '/v1/pets', { headers: bearer(key) });

async function times(count: number, send: () => Promise<RawResponse>): Promise<RawResponse[]> {
  const responses: RawResponse[] = [];
  for (let sent = 0; sent < count; sent += 1) responses.push(await send());
  return responses;
}

const statuses = (responses: readonly RawResponse[]) => new Set(responses.map(({ status }) => status));

describe('GET /v1/rate_limit', () => {
  it('is answered 60 times a minute to each key, then 429, and spends no quota', async () => {
    const { account, key } = await api.openKey('free');
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    api.clock.advance(15 * SECOND);
    expect(statuses(await times(ASKING_LIMIT, () => ask(key)))).toEqual(new Set([200]));
    const refused = await ask(key);
    expectError(refused, 429, 'rate_limited');
    expect(refused.headers).toMatchObject({ 'retry-after': '45', 'x-ratelimit-remaining': '0' });
    expect((await ask(other)).status).toBe(200);
    const listed = await list(key);
    expect(listed).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': '59' } });
    api.clock.advance(45 * SECOND);
    expect((await ask(key)).status).toBe(200);
  });

  it('answers a banned key; its refusals here cause no ban', async () => {
    const { key } = await api.openKey('free');
    await times(120, () => list(key));
    expectError(await list(key), 429, 'key_banned');
    expect((await ask(key)).status).toBe(200);
    const { key: asking } = await api.openKey('free');
    await times(ASKING_LIMIT + 60, () => ask(asking));
    expect((await list(asking)).status).toBe(200);
  });
});

describe('a refusal from before authentication', () => {
  const withoutHost = () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', [], []));

  it.each<[string, number, string, () => Promise<RawResponse>]>([
    ['a missing Host', 400, 'bad_request', withoutHost],
    ['a fragment', 400, 'bad_request', () => request(api, '/v1/pets#x')],
    ['too long a URL', 414, 'uri_too_long', () => request(api, `/${'x'.repeat(9_000)}`)],
    ['an unknown path without a key', 401, 'missing_api_key', () => request(api, '/unknown')],
    ['a bad header', 400, 'bad_request', () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', ['X Y: z']))],
    ['too large headers', 431, 'headers_too_large', () => request(api, '/', { headers: { a: 'x'.repeat(20_000) } })],
    ['CONNECT', 405, 'method_not_allowed', () => sendOnce(api, rawHead(api, 'CONNECT x:443 HTTP/1.1', []))],
    ['an odd Expect', 417, 'expectation_failed', () => request(api, '/v1/pets', { headers: { expect: 'x' } })],
  ])('by %s counts against the address, 60 a minute, and is 429 from then on', async (_case, status, code, send) => {
    const responses = await times(61, send);
    expectError(responses[0], status, code as 'bad_request');
    expect(responses[0]?.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' });
    expectError(responses[59], status, code as 'bad_request');
    expectError(responses[60], 429, 'rate_limited');
    expect(responses[60]?.headers).toHaveProperty('retry-after', '60');
    expect((await list(api.key)).status).toBe(200);
    api.clock.advance(MINUTE);
    expectError(await send(), status, code as 'bad_request');
  });
});

it.each([90_000, 60_000, 59_999, 1_001, 1_000, 999, 1])(
  'Retry-After passes when it is obeyed, %i ms before the end of a day',
  async (milliseconds) => {
    const { key } = await api.openKey('free');
    api.clock.set(later(startOf(DAY, api.clock.now()), DAY - milliseconds));
    const refused = (await times(61, () => list(key))).at(-1);
    expectError(refused, 429, 'rate_limited');
    const seconds = Number(refused?.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual(1);
    api.clock.advance(seconds * SECOND);
    expect((await list(key)).status).toBe(200);
  },
);

it('an exhausted day resets when Retry-After says so', async () => {
  const { key } = await api.openKey({ name: 'enterprise', perMinute: 10, perDay: 10 });
  api.clock.advance(DAY - 1_500);
  const refused = (await times(11, () => list(key))).at(-1);
  expectError(refused, 429, 'daily_quota_exceeded');
  expect(refused?.headers['retry-after']).toBe('2');
  api.clock.advance(1_499);
  expect((await list(key)).status).toBe(429);
  api.clock.advance(501);
  expect((await list(key)).status).toBe(200);
});

describe('a token', () => {
  const withToken = (token: string) => request(api, '/v1/pets', { headers: { authorization: `Bearer ${token}` } });

  it.each([
    ['257 characters', 'a'.repeat(257)],
    ['256 characters and an equals sign', `${'a'.repeat(256)}=`],
    ['258 characters', 'a'.repeat(258)],
    ['8,000 characters', 'a'.repeat(8_000)],
  ])('of %s is 401 for its length', async (_case, token) => {
    expect(expectError(await withToken(token), 401, 'invalid_api_key')).toMatch(/must be "Bearer/);
  });

  it('of 256 characters is looked up', async () => {
    expect(expectError(await withToken('a'.repeat(256)), 401, 'invalid_api_key')).toMatch(/not valid/);
  });
});
