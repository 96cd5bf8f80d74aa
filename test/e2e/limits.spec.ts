import { DAY, later, MINUTE, plan, SECOND, startOf } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { startApi, useApi } from '../support/api.js';
import { expectError, expectLimitHeaders } from '../support/expectations.js';
import { bearer } from '../support/pets-client.js';
import { request, type RawResponse } from '../support/raw-http.js';

const api = useApi({ trustProxy: ['127.0.0.1'] });

// Each test starts at midnight of its own day.
beforeEach(() => {
  api.clock.set(later(startOf(DAY, api.clock.now()), DAY));
});

const list = (key: string, path = '/v1/pets') => request(api, path, { headers: bearer(key) });
const stranger = (address: string, path = '/v1/pets') =>
  request(api, path, { headers: { 'x-forwarded-for': address } });

async function times(count: number, send: () => Promise<RawResponse>): Promise<RawResponse[]> {
  const responses: RawResponse[] = [];
  for (let sent = 0; sent < count; sent += 1) responses.push(await send());
  return responses;
}

const statuses = (responses: readonly RawResponse[]) => responses.map(({ status }) => status);
const shown = (response: RawResponse | undefined) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(response?.headers[`x-ratelimit-${name}`]));

describe('an answer tells', () => {
  it('the limit, the requests left and the minute’s reset', async () => {
    const { key } = await api.openKey('free');
    const midnight = api.clock.now() / SECOND;
    expect(shown(await list(key))).toEqual([60, 59, midnight + 60]);
    expect(shown(await list(key))).toEqual([60, 58, midnight + 60]);
    api.clock.advance(MINUTE);
    expect(shown(await list(key))).toEqual([60, 59, midnight + 120]);
  });

  it('both windows in the IETF draft’s headers', async () => {
    const { key } = await api.openKey('pro');
    api.clock.advance(20 * SECOND);
    const { headers } = await list(key);
    expect(headers['ratelimit-policy']).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
    expect(headers['ratelimit']).toBe(`"minute";r=299;t=40, "day";r=9999;t=${86_400 - 20}`);
  });

  it.each<[string, number, Parameters<typeof request>[2]]>([
    ['/v1/pets', 200, {}],
    ['/v1/pets', 200, { method: 'HEAD' }],
    ['/v1/pets', 204, { method: 'OPTIONS' }],
    [
      '/v1/pets',
      201,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"a","categoryId":1}' },
    ],
    ['/v1/pets', 400, { method: 'POST' }],
    ['/v1/pets?limit=0', 400, {}],
    ['/v1/pets/999', 404, {}],
    ['/v1/unknown', 404, {}],
    ['/v1/%zz', 400, {}],
    ['/v1/pets', 405, { method: 'DELETE' }],
  ])('of %s (%d) the limits, and spends one request of the quota', async (path, status, options) => {
    const { key } = await api.openKey('free');
    await list(key);
    const response = await request(api, path, { ...options, headers: { ...options?.headers, ...bearer(key) } });
    expect(response.status).toBe(status);
    expectLimitHeaders(response);
    expect(shown(response).slice(0, 2)).toEqual([60, 58]);
  });
});

describe('a key over its limits', () => {
  it('is refused by the minute until the next one begins', async () => {
    const { key } = await api.openKey('free');
    api.clock.advance(15_500);
    expect(new Set(statuses(await times(60, () => list(key))))).toEqual(new Set([200]));
    const refused = await list(key);
    expectError(refused, 429, 'rate_limited');
    expect(shown(refused).slice(0, 2)).toEqual([60, 0]);
    expect(refused.headers['retry-after']).toBe('45');
    api.clock.advance(45 * SECOND);
    expect((await list(key)).status).toBe(200);
  });

  it('is refused by the day until the next one begins', async () => {
    const { key } = await api.openKey(plan('enterprise', { perMinute: 2, perDay: 3 }));
    await times(2, () => list(key));
    api.clock.advance(MINUTE);
    expect((await list(key)).status).toBe(200);
    const refused = await list(key);
    expectError(refused, 429, 'daily_quota_exceeded');
    expect(shown(refused).slice(0, 2)).toEqual([3, 0]);
    expect(refused.headers['retry-after']).toBe(String(86_400 - 60));
    api.clock.advance(DAY - MINUTE);
    expect((await list(key)).status).toBe(200);
  });

  it('is refused before any other check of the request', async () => {
    const { key } = await api.openKey('free');
    await times(60, () => list(key));
    expectError(await list(key, '/v1/unknown'), 429, 'rate_limited');
    expectError(await list(key, '/v1/pets?limit=0'), 429, 'rate_limited');
    expectError(
      await request(api, '/v1/pets', { method: 'POST', headers: bearer(key), body: '{' }),
      429,
      'rate_limited',
    );
  });

  it('shares its quota with the account’s other keys', async () => {
    const { account, key } = await api.openKey('free');
    const { text } = await api.application.issueKey.execute({ accountId: account.id });
    await times(60, () => list(key));
    expectError(await list(text), 429, 'rate_limited');
  });

  it('admits exactly the limit of 100 parallel requests', async () => {
    const { key } = await api.openKey('free');
    const responses = await Promise.all(Array.from({ length: 100 }, () => list(key)));
    expect(statuses(responses).filter((status) => status === 200)).toHaveLength(60);
    expect(statuses(responses).filter((status) => status === 429)).toHaveLength(40);
  });
});

describe('a key that continues after refusals', () => {
  it('is banned with the 50th refusal for five minutes, without the other keys of its account', async () => {
    const { account, key } = await api.openKey('free');
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    const responses = await times(110, () => list(key));
    expectError(responses[108], 429, 'rate_limited');
    expectError(responses[109], 429, 'key_banned');
    expect(responses[109]?.headers['retry-after']).toBe('300');
    api.clock.advance(MINUTE);
    expectError(await list(key), 429, 'key_banned');
    expect((await list(other)).status).toBe(200);
    api.clock.advance(4 * MINUTE);
    expect((await list(key)).status).toBe(200);
  });
});

describe('requests without a valid key', () => {
  it('are counted against their address, and refused with 429 over 60 a minute', async () => {
    const responses = await times(61, () => stranger('192.0.2.1'));
    expectError(responses[0], 401, 'missing_api_key');
    expect(shown(responses[0]).slice(0, 2)).toEqual([60, 59]);
    expectError(responses[59], 401, 'missing_api_key');
    expectError(responses[60], 429, 'rate_limited');
    expect(responses[60]?.headers['retry-after']).toBe('60');
    expectError(await stranger('192.0.2.2'), 401, 'missing_api_key');
    api.clock.advance(MINUTE);
    expectError(await stranger('192.0.2.1'), 401, 'missing_api_key');
  });

  it('of one IPv6 network are counted together', async () => {
    let hosts = 0;
    await times(60, () => stranger(`2001:db8::${(hosts += 1)}`));
    expectError(await stranger('2001:db8::ffff'), 429, 'rate_limited');
    expectError(await stranger('2001:db8:0:1::1'), 401, 'missing_api_key');
  });

  it('use no key’s quota, and never cause refusals of valid requests from their address', async () => {
    const { key } = await api.openKey('free');
    await times(61, () => request(api, '/v1/pets'));
    expect(shown(await list(key)).slice(0, 2)).toEqual([60, 59]);
  });

  it('are counted against the connection’s address if no proxy is trusted', async () => {
    const plain = await startApi();
    const send = (number: number) =>
      request(plain, '/v1/pets', { headers: { 'x-forwarded-for': `192.0.2.${number}` } });
    for (let number = 0; number < 60; number += 1) await send(number);
    expectError(await send(99), 429, 'rate_limited');
    await plain.close();
  });
});

describe('GET /v1/rate_limit', () => {
  it('shows plan, windows and ban, and counts nothing', async () => {
    const { key } = await api.openKey('free');
    const midnight = api.clock.now() / SECOND;
    await times(2, () => list(key));
    const expected = {
      plan: 'free',
      minute: { limit: 60, used: 2, remaining: 58, reset: midnight + 60 },
      day: { limit: 1_000, used: 2, remaining: 998, reset: midnight + 86_400 },
      ban: null,
    };
    for (const response of await times(3, () => list(key, '/v1/rate_limit'))) {
      expect(response.status).toBe(200);
      expect(JSON.parse(response.body)).toEqual(expected);
      expect(shown(response)).toEqual([60, 58, midnight + 60]);
    }
  });

  it('answers callers without requests left, and banned ones', async () => {
    const { key } = await api.openKey('free');
    await times(60, () => list(key));
    expect(JSON.parse((await list(key, '/v1/rate_limit')).body)).toMatchObject({ minute: { remaining: 0 }, ban: null });
    await times(50, () => list(key));
    const until = later(api.clock.now(), 5 * MINUTE) / SECOND;
    expect(JSON.parse((await list(key, '/v1/rate_limit')).body)).toMatchObject({ ban: { until } });
  });

  it('needs a key', async () => {
    expectError(await stranger('192.0.2.77', '/v1/rate_limit'), 401, 'missing_api_key');
  });
});
