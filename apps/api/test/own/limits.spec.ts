import {
  type AccountId,
  DAY,
  HOUR,
  later,
  MINUTE,
  plan,
  SECOND,
  type ShownRefusal,
  startOf,
} from '@adoption-store/domain';
import { ask as query, until } from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { errorStatuses } from '../../src/http/answers/error-codes.js';
import { useApi } from '../support/api.js';
import { expectError, expectLimitHeaders } from '../support/expectations.js';
import { bearer, rawHead, sendOnce } from '../support/pets-client.js';
import { request, type RawResponse, sendRaw } from '../support/raw-http.js';

/** Requests for its limits that a key may send in a minute. */
const ASKING_LIMIT = 60;

const api = useApi({ trustProxy: ['127.0.0.1'] });
const plain = useApi();

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

const JSON_TYPE = 'Content-Type: application/json';
const LUNA = '{"name":"Luna","categoryId":1}';

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
    ['/v1/pets', 304, { headers: { 'if-none-match': '*' } }],
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
});

describe('a request whose key was accepted', () => {
  const withBody = (body: string, ...headers: readonly string[]) => [
    ...headers,
    JSON_TYPE,
    `Content-Length: ${body.length}`,
  ];
  const twice = (header: string) => [header, header];

  // [request line, headers, status, body]
  it.each<[string, readonly string[], number, string?]>([
    ['GET /v1/rate_limit?x=1', [], 400],
    ['HEAD /v1/rate_limit?x=1', [], 400],
    ['GET /v1/rate_limit', twice('If-Match: "a"'), 400],
    ['PUT /v1/rate_limit', [], 405],
    ['GET /v1/pets?x=1', [], 400],
    ['GET /v1/unknown', [], 404],
    ['GET /v1/%zz', [], 400],
    ['DELETE /v1/pets', [], 405],
    ['POST /v1/messages', withBody('{}'), 403, '{}'],
    ['POST /v1/pets', withBody(LUNA, JSON_TYPE), 400, LUNA],
    ['POST /v1/pets', ['Content-Length: 70000', JSON_TYPE], 413],
    ['POST /v1/pets', ['Transfer-Encoding: chunked', JSON_TYPE], 400, 'zz\r\n'],
  ])('never counts against its address: %s, %j', async (line, headers, status, body = '') => {
    const { account } = await api.openKey('business');
    const { text: key } = await api.application.issueKey.execute({
      accountId: account.id,
      scopes: ['pets:read', 'pets:write'],
    });
    const left = async () => Number((await stranger('192.0.2.50')).headers['x-ratelimit-remaining']);
    const before = await left();
    const all = [...headers, 'X-Forwarded-For: 192.0.2.50', 'Connection: close'];
    const [response] = await sendRaw(api, `${rawHead({ ...api, key }, `${line} HTTP/1.1`, all)}${body}`, Infinity);
    expect(response?.status).toBe(status);
    expect(await left()).toBe(before - 1);
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

const ask = (key: string) => list(key, '/v1/rate_limit');

describe('asking for the limits', () => {
  it('is answered 60 times a minute to each key, then 429, and spends no quota', async () => {
    const { account, key } = await api.openKey('free');
    const { text: other } = await api.application.issueKey.execute({ accountId: account.id });
    api.clock.advance(15 * SECOND);
    expect(new Set(statuses(await times(ASKING_LIMIT, () => ask(key))))).toEqual(new Set([200]));
    const refused = await ask(key);
    expectError(refused, 429, 'rate_limited');
    expect(refused.headers).toMatchObject({ 'retry-after': '45', 'x-ratelimit-remaining': '0' });
    expect((await ask(other)).status).toBe(200);
    const listed = await list(key);
    expect(listed).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': '59' } });
    api.clock.advance(45 * SECOND);
    expect((await ask(key)).status).toBe(200);
  });

  it('counts before anything else of the request is judged', async () => {
    const { key } = await api.openKey('free');
    const wrong = () => list(key, '/v1/rate_limit?x=1');
    const refused = await times(ASKING_LIMIT, wrong);
    expectError(refused[0], 400, 'invalid_parameter');
    expect(shown(refused[0]).slice(0, 2)).toEqual([ASKING_LIMIT, ASKING_LIMIT - 1]);
    expectError(await wrong(), 429, 'rate_limited');
    expectError(await ask(key), 429, 'rate_limited');
  });
});

describe('a refusal from before authentication', () => {
  const withoutHost = () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', [], []));

  it.each<[string, number, string, () => Promise<RawResponse>]>([
    ['a missing Host', 400, 'bad_request', withoutHost],
    ['an unknown path without a key', 401, 'missing_api_key', () => request(api, '/unknown')],
    ['a bad header', 400, 'bad_request', () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', ['X Y: z']))],
    ['too large headers', 431, 'headers_too_large', () => request(api, '/', { headers: { a: 'x'.repeat(20_000) } })],
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

it.each([
  ['of 256 characters is looked up', 'a'.repeat(256), /not valid/],
  ['of more is 401 for its length', `${'a'.repeat(256)}=`, /must be "Bearer/],
])('a token %s', async (_what, token, message) => {
  const response = await request(api, '/v1/pets', { headers: bearer(token) });
  expect(expectError(response, 401, 'invalid_api_key')).toMatch(message);
});

const logOf = (accountId: AccountId) => api.application.showRefusals.execute({ accountId });

/** Waits until that request is in the log of its account. */
async function logged(accountId: AccountId, requestId: string): Promise<ShownRefusal | undefined> {
  const find = () => api.application.showRefusals.execute({ accountId, requestId });
  await until(async () => (await find()).length > 0);
  const found = await find();
  expect(found).toHaveLength(1);
  return found[0];
}

const JSON_BODY = { 'Content-Type': 'application/json' };

describe('a refused request', () => {
  it('is in the log of its account by its id, with the code of the response, whatever the refusal', async () => {
    const { account, id, key } = await api.openKey('business');
    const limited = (await api.application.issueKey.execute({ accountId: account.id, scopes: ['pets:read'] })).text;
    const sent = [
      [400, 'invalid_parameter', 'GET', '/v1/pets?limit=0', 'GET /v1/pets', key],
      [400, 'invalid_json', 'POST', '/v1/pets', 'POST /v1/pets', key],
      [403, 'insufficient_scope', 'POST', '/v1/messages', 'POST /v1/messages', limited],
      [404, 'not_found', 'GET', '/v1/pets/123456789', 'GET /v1/pets/{petId}', key],
      [412, 'precondition_failed', 'GET', '/v1/categories', 'GET /v1/categories', key],
      [404, 'not_found', 'GET', `/v1/nothing/${key}`, 'GET *', key],
      [405, 'method_not_allowed', 'PUT', '/v1/pets', 'PUT *', key],
    ] as const;
    for (const [status, code, method, path, operation, used] of sent) {
      const response = await request(api, path, {
        method,
        headers: {
          ...bearer(used),
          ...(method === 'GET' ? {} : JSON_BODY),
          ...(status === 412 && { 'If-Match': '"x"' }),
        },
        ...(method === 'GET' ? {} : { body: '{' }),
      });
      expectError(response, status, code);
      const refusal = await logged(account.id, String(response.headers['x-request-id']));
      expect(refusal).toMatchObject({ at: api.clock.now(), operation, code });
      expect(refusal?.key.ending).toBe(used.slice(-4));
      if (used === key) expect(refusal?.keyId).toBe(id);
    }
    const rows = await query<{ text: string }>(
      api.databaseUrl,
      'SELECT refusals::text AS text FROM refusals WHERE account_id = $1',
      [account.id],
    );
    const all = rows.map(({ text }) => text).join('\n');
    // Nothing of what the client sent.
    for (const secret of [key, 'limit', '123456789', 'nothing', '{"']) expect(all).not.toContain(secret);
  });

  it('over the limit, or of a banned key, is in the log', async () => {
    const { account, key } = await api.openKey('free');
    const list = () => request(api, '/v1/pets', { headers: bearer(key) });
    for (let sent = 0; sent < 60; sent += 1) expect((await list()).status).toBe(200);
    const over = await list();
    expectError(over, 429, 'rate_limited');
    expect(await logged(account.id, String(over.headers['x-request-id']))).toMatchObject({ code: 'rate_limited' });
    for (let sent = 0; sent < 50; sent += 1) await list();
    const banned = await list();
    expectError(banned, 429, 'key_banned');
    expect(await logged(account.id, String(banned.headers['x-request-id']))).toMatchObject({ code: 'key_banned' });
  });

  it('with a revoked or expired key is in the log, also over the limit of the address', async () => {
    const { account, id, key } = await api.openKey();
    const { text: expiring } = await api.application.issueKey.execute({
      accountId: account.id,
      expiresAt: later(api.clock.now(), MINUTE),
    });
    await api.application.revokeKey.execute({ id });
    api.clock.advance(HOUR);
    const list = (used: string) => request(api, '/v1/pets', { headers: bearer(used) });
    for (const [used, code] of [
      [key, 'revoked_api_key'],
      [expiring, 'expired_api_key'],
    ] as const) {
      const response = await list(used);
      expectError(response, 401, code);
      const refusal = await logged(account.id, String(response.headers['x-request-id']));
      expect(refusal).toMatchObject({ code, operation: 'GET /v1/pets', key: { ending: used.slice(-4) } });
    }
    for (let sent = 0; sent < 60; sent += 1) await list(key);
    const over = await list(key);
    expectError(over, 429, 'rate_limited');
    expect(await logged(account.id, String(over.headers['x-request-id']))).toMatchObject({ code: 'rate_limited' });
    api.clock.advance(HOUR);
  });

  it('whose body turns out not to be HTTP is in the log once, with the code that was sent', async () => {
    const { account, key } = await api.openKey();
    const head = (id: string) =>
      rawHead({ ...api, key }, 'POST /v1/pets HTTP/1.1', [
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        `X-Request-Id: ${id}`,
      ]);
    const [response] = await sendRaw(api, `${head('broken-chunk')}zz\r\n`);
    expectError(response, 400, 'bad_request');
    expect(await logged(account.id, 'broken-chunk')).toMatchObject({ code: 'bad_request', operation: 'POST /v1/pets' });
  });

  it('shows a client’s own id, but not a key that was sent as one', async () => {
    const { account, key } = await api.openKey();
    const send = (id: string) => request(api, '/v1/pets?limit=0', { headers: { ...bearer(key), 'X-Request-Id': id } });
    expect((await send(key)).headers['x-request-id']).toBe(key);
    await send(`Bearer_${key}`);
    await send('my-own_id');
    await logged(account.id, 'my-own_id');
    const ids = (await logOf(account.id)).map(({ requestId }) => requestId).sort();
    expect(ids).toEqual(['Bearer_redacted', 'my-own_id', 'redacted']);
  });

  it('without a known key is in no log, nor is an admitted request', async () => {
    const { account, key } = await api.openKey();
    await request(api, '/v1/pets', {});
    await request(api, '/v1/pets', { headers: bearer(`${key.slice(0, -1)}!`) });
    expect((await request(api, '/v1/pets', { headers: bearer(key) })).status).toBe(200);
    const last = await request(api, '/v1/pets?limit=0', { headers: bearer(key) });
    await logged(account.id, String(last.headers['x-request-id']));
    expect(await logOf(account.id)).toHaveLength(1);
    const statement = 'SELECT FROM refusals WHERE at >= $1';
    expect(await query(api.databaseUrl, statement, [new Date(api.clock.now())])).toHaveLength(1);
  });
});

it('every code of a refusal fits into the log', () => {
  for (const code of Object.keys(errorStatuses)) expect(code).toMatch(/^[a-z_]{1,64}$/);
});

/** The remaining requests after a request with each of these headers. */
async function remainders(...forwardedFor: readonly string[]): Promise<number[]> {
  const left: number[] = [];
  for (const each of forwardedFor) left.push(Number((await stranger(each)).headers['x-ratelimit-remaining']));
  return left;
}

function add(to: typeof api, ...headers: readonly string[]): Promise<RawResponse> {
  const all = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`, ...headers];
  return sendOnce(to, Buffer.from(`${rawHead(to, 'POST /v1/pets HTTP/1.1', all)}${LUNA}`, 'latin1'));
}

describe('X-Forwarded-For of a trusted proxy', () => {
  it.each(['garbage', '1.2.3', '999.1.1.1', '1.2.3.4:x', '[::1', '::1%eth0', '\xe9', ','])(
    'that is no address, such as %s, is counted as the proxy’s own',
    async (garbage) => {
      expect(await remainders('127.0.0.1', garbage, `192.0.2.1, ${garbage}`)).toEqual([59, 58, 57]);
    },
  );

  it('is the same with and without a port', async () => {
    expect(await remainders('192.0.2.5', '192.0.2.5:1', '192.0.2.5:65535')).toEqual([59, 58, 57]);
    expect(await remainders('2001:db8::1', '[2001:db8::2]', '[2001:db8::3]:443')).toEqual([59, 58, 57]);
  });

  it('is the address nearest to the trusted ones, whatever precedes it', async () => {
    expect(await remainders('192.0.2.6', 'garbage, 192.0.2.6', '192.0.2.7, 192.0.2.6')).toEqual([59, 58, 57]);
  });
});

it('X-Forwarded-For of other senders is not used: the connection’s address is counted', async () => {
  const ask = (number: number) => request(plain, '/v1/pets', { headers: { 'x-forwarded-for': `192.0.2.${number}` } });
  for (let number = 0; number < 60; number += 1) await ask(number);
  expectError(await ask(99), 429, 'rate_limited');
});

describe('X-Forwarded-Host and -Proto', () => {
  it('of a trusted proxy are used for links', async () => {
    const answer = await add(api, 'X-Forwarded-Host: pets.example:8443', 'X-Forwarded-Proto: HTTPS');
    expect(answer.headers['location']).toMatch(/^https:\/\/pets\.example:8443\/v1\/pets\/\d+$/);
  });

  it.each(['\xe9', 'a b', 'user@a', '<script>', 'a:b', 'x'.repeat(300), 'a, \xe9', ' '])(
    'that are not valid are not used: %s',
    async (garbage) => {
      const headers = [`X-Forwarded-Host: ${garbage}`, `X-Forwarded-Proto: ${garbage}`];
      const answer = await add(api, ...headers);
      expect(answer.status).toBe(201);
      expect(answer.headers['location']).toMatch(/^http:\/\/[\w.:-]+\/v1\/pets\/\d+$/);
      const list = rawHead(api, 'GET /v1/pets?limit=1 HTTP/1.1', headers);
      expect(await sendOnce(api, Buffer.from(list, 'latin1'))).toMatchObject({ status: 200 });
    },
  );

  it('of other senders are not used', async () => {
    const answer = await add(plain, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https');
    expect(answer.headers['location']).toMatch(/^http:\/\/(?!evil)[\w.:-]+\/v1\/pets\/\d+$/);
    const list = await request(plain, '/v1/pets?limit=1', {
      headers: { ...bearer(plain.key), 'x-forwarded-host': '\xe9', 'x-forwarded-proto': 'javascript' },
    });
    expect(list.status).toBe(200);
  });
});
