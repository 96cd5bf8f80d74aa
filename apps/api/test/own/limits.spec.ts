import { type AccountId, DAY, later, MINUTE, SECOND, type ShownFailedRequests, startOf } from '@adoption-store/domain';
import { ask as query, until } from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { bearer, rawHead, send, sendOnce } from '../support/client.js';
import { inputsOf, operations } from '../support/description.js';
import { type ErrorCode, expectError } from '../support/expectations.js';
import { request, type RawResponse, sendRaw } from '../support/raw-http.js';

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

const LUNA = '{"name":"Luna","categoryId":1}';

const statuses = (responses: readonly RawResponse[]) => responses.map(({ status }) => status);
const shown = (response: RawResponse | undefined) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(response?.headers[`x-ratelimit-${name}`]));

describe('an answer tells', () => {
  it('both windows in the IETF draft’s headers', async () => {
    const { key } = await api.openKey('pro');
    api.clock.advance(20 * SECOND);
    const { headers } = await list(key);
    expect(headers['ratelimit-policy']).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
    expect(headers['ratelimit']).toBe(`"minute";r=299;t=40, "day";r=9999;t=${86_400 - 20}`);
  });

  it.each<[string, string, number]>([
    ['GET', '/v1/pets', 200],
    ['HEAD', '/v1/pets', 200],
    ['OPTIONS', '/v1/pets', 204],
    ['POST', '/v1/pets', 400],
    ['GET', '/v1/pets/999', 404],
    ['GET', '/v1/unknown', 404],
    ['GET', '/v1/%zz', 400],
    ['DELETE', '/v1/pets', 405],
  ])('to %s %s, %d, of one request less, which never counts against the address', async (method, path, status) => {
    const { key } = await api.openKey('free');
    const leftOfAddress = async () => (await stranger('192.0.2.50')).headers['x-ratelimit-remaining'];
    expect(await leftOfAddress()).toBe('59');
    const headers = { ...bearer(key), 'X-Forwarded-For': '192.0.2.50' };
    const response = await request(api, path, { method, headers });
    expect(response.status).toBe(status);
    expect(shown(response).slice(0, 2)).toEqual([60, 59]);
    expect(await leftOfAddress()).toBe('58');
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

  it('is refused before any other check of the request', async () => {
    const { key } = await api.openKey('free');
    await times(60, () => list(key));
    expectError(await list(key, '/v1/unknown'), 429, 'rate_limited');
    expectError(await list(key, '/v1/pets?limit=0'), 429, 'rate_limited');
  });
});

describe('requests without a valid key', () => {
  it('are counted against their address, and refused with 429 over 60 a minute', async () => {
    const responses = await times(61, () => stranger('192.0.2.1'));
    expect(shown(responses[0]).slice(0, 2)).toEqual([60, 59]);
    expectError(responses[59], 401, 'missing_api_key');
    expectError(responses[60], 429, 'rate_limited');
    expect(responses[60]?.headers['retry-after']).toBe('60');
    expectError(await stranger('192.0.2.2'), 401, 'missing_api_key');
    api.clock.advance(MINUTE);
    expectError(await stranger('192.0.2.1'), 401, 'missing_api_key');
  });

  it('use no key’s quota, and never cause refusals of valid requests from their address', async () => {
    const { key } = await api.openKey('free');
    await times(61, () => request(api, '/v1/pets'));
    expect(shown(await list(key)).slice(0, 2)).toEqual([60, 59]);
  });
});

it('GET /v1/rate_limit shows plan, windows and ban', async () => {
  const { key } = await api.openKey('free');
  const midnight = api.clock.now() / SECOND;
  await times(2, () => list(key));
  const expected = {
    plan: 'free',
    minute: { limit: 60, used: 2, remaining: 58, reset: midnight + 60 },
    day: { limit: 1_000, used: 2, remaining: 998, reset: midnight + 86_400 },
    ban: null,
  };
  for (const response of await times(2, () => list(key, '/v1/rate_limit'))) {
    expect(JSON.parse(response.body)).toEqual(expected);
    expect(shown(response)).toEqual([60, 58, midnight + 60]);
  }
});

const withoutHost = () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', [], []));

it.each<[string, number, ErrorCode, () => Promise<RawResponse>]>([
  ['a missing Host', 400, 'bad_request', withoutHost],
  ['a bad header', 400, 'bad_request', () => sendOnce(api, rawHead(api, 'GET /v1/pets HTTP/1.1', ['X Y: z']))],
  ['too large headers', 431, 'headers_too_large', () => request(api, '/', { headers: { a: 'x'.repeat(20_000) } })],
])(
  'a refusal from before authentication by %s counts against the address, 60 a minute, and is 429 from then on',
  async (_case, status, code, send) => {
    const responses = await times(61, send);
    expectError(responses[59], status, code);
    expectError(responses[60], 429, 'rate_limited');
  },
);

type Attempt = readonly [path: string, body: string | undefined, headers: Readonly<Record<string, string>>];

/** Requests with the canary wherever an operation reads something. */
function attempts(operation: (typeof operations)[number], canary: string): readonly Attempt[] {
  const { method, path } = operation;
  const { query, fields, type } = inputsOf(operation);
  const text = JSON.stringify(canary);
  const values = [text, `{${text}:${text}}`, `[${text}]`];
  values.push(`"https://user:${canary}@${canary}.example"`, `"http://${canary}"`);
  const bodies = ['{}', `{${text}`, `{${text}:1,${text}:2}`, `{${text}:{"__proto__":1}}`, text, `{"${canary}\\q":1}`];
  bodies.push(`{${text}:${text}}`, ...fields.flatMap((field) => values.map((value) => `{"${field}":${value}}`)));
  const names = ['If-Match', 'If-None-Match', 'Idempotency-Key', 'Content-Encoding', 'Expect', 'Origin'];
  const paths = [canary, ...query].map((name) => `${path}?${name}=${canary}`);
  const body = method === 'GET' ? undefined : '{}';
  const json: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
  return [
    ...[path.replaceAll('4711', canary), ...paths].map((each): Attempt => [each, body, json]),
    ...names.map((name): Attempt => [path, body, { ...json, [name]: canary }]),
    [path, body, { 'Content-Type': canary }],
    [path, body, { ...json, 'If-Match': `"${canary}"` }],
    ...(type === undefined ? [] : bodies.map((each): Attempt => [path, each, json])),
  ];
}

/** Waits until that request is in the log of its account. */
async function logged(accountId: AccountId, requestId: string): Promise<ShownFailedRequests | undefined> {
  const find = async () => (await api.application.listFailedRequests.execute({ accountId, requestId })).failedRequests;
  await until(async () => (await find()).length > 0);
  const found = await find();
  expect(found).toHaveLength(1);
  return found[0];
}

describe('a failed request', () => {
  it('is in the log of its account by its id, with status, code and reason, whatever the error', async () => {
    const { account, id, key } = await api.openKey('business');
    const limited = (await api.application.issueKey.execute({ accountId: account.id, scopes: ['pets:read'] })).text;
    const sent = [
      [400, 'invalid_parameter', 'GET', '/v1/pets?limit=0', key, 'limit must be an integer from 1 to 100, given once'],
      [400, 'invalid_json', 'POST', '/v1/pets', key, 'the body is not JSON: unexpected end at position 1'],
      [403, 'insufficient_scope', 'POST', '/v1/messages', limited, 'the API key lacks the scope messages:write'],
      [404, 'not_found', 'GET', '/v1/pets/123456789', key, 'no animal has the id 123456789'],
      [404, 'not_found', 'GET', `/v1/pet/${key}?a=b`, key, 'there is nothing at GET /v1/pet/…'],
      [405, 'method_not_allowed', 'PUT', '/v1/pets', key, 'PUT is not allowed here, only GET, HEAD, OPTIONS, POST'],
    ] as const;
    for (const [status, code, method, path, used, reason] of sent) {
      const response = await send({ ...api, key: used }, method, path, method === 'GET' ? undefined : '{');
      expectError(response, status, code);
      const failed = await logged(account.id, String(response.headers['x-request-id']));
      expect(failed).toMatchObject({ at: api.clock.now(), status, code, reason, count: 1 });
      expect(failed?.key.ending).toBe(used.slice(-4));
      if (used === key) expect(failed?.keyId).toBe(id);
    }
  });

  it('keeps nothing that its sender typed, in whichever field, parameter, header or path', async () => {
    const CANARY = 'canary-Wq7';
    const accounts: AccountId[] = [];
    for (const operation of operations) {
      const { account, key } = await api.openKey();
      accounts.push(account.id);
      for (const each of attempts(operation, CANARY)) await send({ ...api, key }, operation.method, ...each);
      const unknown = `/v1/${CANARY}@example.com/${CANARY.repeat(3)}?${CANARY}=${CANARY}`;
      await send({ ...api, key }, 'GET', unknown, undefined, { 'X-Request-Id': 'last' });
    }
    for (const id of accounts) await logged(id, 'last');
    const rows = await query(api.databaseUrl, 'SELECT * FROM failed_requests WHERE account_id = ANY($1)', [accounts]);
    expect(rows.filter(({ reason }) => reason === '')).toEqual([]);
    expect(rows.length).toBeGreaterThan(3 * accounts.length);
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(CANARY.toLowerCase());
  });

  it('whose body turns out not to be HTTP is in the log once, with the code that was sent', async () => {
    const { account, key } = await api.openKey();
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'X-Request-Id: broken-chunk'];
    const head = rawHead({ ...api, key }, 'POST /v1/pets HTTP/1.1', headers);
    const [response] = await sendRaw(api, `${head}zz\r\n`);
    expectError(response, 400, 'bad_request');
    expect(await logged(account.id, 'broken-chunk')).toMatchObject({ code: 'bad_request', operation: 'POST /v1/pets' });
  });

  it('shows a client’s own id, but not a key that was sent as one', async () => {
    const { account, key } = await api.openKey();
    for (const id of [`Bearer_${key}`, 'my-own_id'])
      await request(api, '/v1/pets?limit=0', { headers: { ...bearer(key), 'X-Request-Id': id } });
    await logged(account.id, 'my-own_id');
    const { all } = await api.application.listFailedRequests.execute({ accountId: account.id });
    expect(all.flatMap(({ requestIds }) => requestIds)).toEqual(['my-own_id', 'Bearer_redacted']);
  });

  it('without a known key is in no log, nor is an admitted request', async () => {
    const { account, key } = await api.openKey();
    await request(api, '/v1/pets', { headers: bearer(`${key.slice(0, -1)}!`) });
    expect((await list(key)).status).toBe(200);
    const last = await list(key, '/v1/pets?limit=0');
    await logged(account.id, String(last.headers['x-request-id']));
    const statement = 'SELECT FROM failed_requests WHERE at >= $1';
    expect(await query(api.databaseUrl, statement, [new Date(api.clock.now())])).toHaveLength(1);
  });
});

/** The remaining requests after a request with each of these headers. */
async function remainders(...forwardedFor: readonly string[]): Promise<number[]> {
  const left: number[] = [];
  for (const each of forwardedFor) left.push(Number((await stranger(each)).headers['x-ratelimit-remaining']));
  return left;
}

function add(to: typeof api, ...headers: readonly string[]): Promise<RawResponse> {
  const all = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`, ...headers];
  return sendOnce(to, rawHead(to, 'POST /v1/pets HTTP/1.1', all) + LUNA);
}

describe('X-Forwarded-For of a trusted proxy', () => {
  it.each(['1.2.3', '1.2.3.4:x', '[::1', '::1%eth0', '\xe9', ','])(
    'that is no address, such as %s, is counted as the proxy’s own',
    async (garbage) => {
      expect(await remainders('127.0.0.1', garbage, `192.0.2.1, ${garbage}`)).toEqual([59, 58, 57]);
    },
  );

  it('is the address nearest to the trusted ones, whatever precedes it, with and without a port', async () => {
    expect(await remainders('192.0.2.6', 'garbage, 192.0.2.6', '192.0.2.7, 192.0.2.6:65535')).toEqual([59, 58, 57]);
    expect(await remainders('2001:db8::1', '[2001:db8::2]', '[2001:db8::3]:443')).toEqual([59, 58, 57]);
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
      const answer = await add(api, `X-Forwarded-Host: ${garbage}`, `X-Forwarded-Proto: ${garbage}`);
      expect(answer.status).toBe(201);
      expect(answer.headers['location']).toMatch(/^http:\/\/[\w.:-]+\/v1\/pets\/\d+$/);
    },
  );

  it('of other senders are not used', async () => {
    const answer = await add(plain, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https');
    expect(answer.headers['location']).toMatch(/^http:\/\/(?!evil)[\w.:-]+\/v1\/pets\/\d+$/);
  });
});
