import { describe, expect, it } from '@jest/globals';
import { startApi, type TestApi, useApi } from '../support/api.js';
import { bearer, rawHead, sendOnce } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { describedHeaders } from '../support/description.js';
import { type RawResponse, request } from '../support/raw-http.js';

const PAGE = 'https://shop.example';
const ASKING = { Origin: PAGE, 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'if-match' };
const TAKEN =
  'authorization, content-type, idempotency-key, if-match, if-none-match, user-agent, x-request-id, traceparent';
const PREFLIGHT = {
  'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
  'access-control-allow-headers': TAKEN,
  'access-control-max-age': '7200',
  vary: 'Access-Control-Request-Headers',
};

const readableBy = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers':
    'ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
    'RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, Deprecation, Sunset, X-Stability, Idempotent-Replayed',
});

const api = useApi({}, { addressLimit: 10_000 });
const listed = useApi({ corsOrigins: ['https://a.example', 'https://b.example:8443'] });
const closed = useApi({ corsOrigins: [] });

const preflight = (to: TestApi, headers: Readonly<Record<string, string>> = ASKING) =>
  request(to, '/v1/pets/1', { method: 'OPTIONS', headers });

/** What a browser reads of CORS, and caches of what the answer depends on. */
function corsOf({ headers }: RawResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(access-control-|vary$)/.test(name)));
}

/** Requests that are answered in different places, from the socket to the handler. */
const ANSWERS: Readonly<Record<string, (...headers: readonly string[]) => string>> = {
  'a list': (...headers) => rawHead(api, 'GET /v1/pets HTTP/1.1', headers),
  'an unknown path': (...headers) => rawHead(api, 'GET /v1/cats HTTP/1.1', headers),
  'a request without a key': (...headers) => rawHead(api, 'GET /v1/pets HTTP/1.1', headers, ['Host: a']),
  'a request without a Host': (...headers) => rawHead(api, 'GET /v1/pets HTTP/1.1', headers, []),
  'a fragment': (...headers) => rawHead(api, 'GET /v1/pets#x HTTP/1.1', headers),
  'an odd Expect': (...headers) => rawHead(api, 'GET /v1/pets HTTP/1.1', ['Expect: x', ...headers]),
};
const AT_THE_SOCKET: typeof ANSWERS = {
  'what is no HTTP': (...headers) => rawHead(api, 'GET /v1/pets HTTP/1.1', [...headers, 'nonsense']),
  'too large headers': (...headers) =>
    rawHead(api, 'GET /v1/pets HTTP/1.1', [...headers, `X-Y: ${'x'.repeat(17_000)}`]),
  CONNECT: (...headers) => rawHead(api, 'CONNECT x:443 HTTP/1.1', headers),
};

it.each(Object.entries(ANSWERS))(
  'the answer to %s is readable by a page of another origin, and shows nothing of it to others',
  async (_case, bytes) => {
    expect(corsOf(await sendOnce(api, bytes(`Origin: ${PAGE}`)))).toEqual(readableBy('*'));
    expect(corsOf(await sendOnce(api, bytes()))).toEqual({});
  },
);

it.each(Object.entries(AT_THE_SOCKET))('the refusal of %s at the socket is readable by all', async (_case, bytes) => {
  for (const each of [api, listed])
    expect(corsOf(await sendOnce(each, bytes(`Origin: ${PAGE}`)))).toEqual(readableBy('*'));
});

it('pages beside the API stay closed', async () => {
  for (const path of ['/', '/docs', '/openapi.json', '/livez']) {
    const { headers } = await request(api, path, { headers: { Origin: PAGE } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

describe('a preflight', () => {
  it('is answered 204 without a key, whatever is at the path', async () => {
    for (const path of ['/v1', '/v1/pets/1?x', '/v1/none', '/v1//pets', 'http://x/v1/pets']) {
      const answer = await request(api, path, { method: 'OPTIONS', headers: ASKING });
      expect(answer).toMatchObject({ status: 204, body: '' });
      expect(corsOf(answer)).toEqual({ ...readableBy('*'), ...PREFLIGHT });
      expect(answer.headers).not.toHaveProperty('content-type');
    }
  });

  it('costs nothing, and is answered to an address without requests left', async () => {
    const poor = await startApi({}, { addressLimit: 1 });
    expect((await preflight(poor)).headers['x-ratelimit-remaining']).toBe('1');
    expectError(await request(poor, '/v1/pets'), 401, 'missing_api_key');
    expect(await preflight(poor)).toMatchObject({ status: 204, headers: { 'x-ratelimit-remaining': '0' } });
    await poor.close();
  });

  it('has an Origin, the method that is asked for, and a path of the API', async () => {
    const { Origin, ...withoutOrigin } = ASKING;
    expectError(await preflight(api, withoutOrigin), 401, 'missing_api_key');
    expectError(await preflight(api, { Origin }), 401, 'missing_api_key');
    expectError(await request(api, '/v1/pets', { headers: ASKING }), 401, 'missing_api_key');
    expectError(await request(api, '/v1x', { method: 'OPTIONS', headers: ASKING }), 401, 'missing_api_key');
    expectError(await request(api, '/v1/pets#x', { method: 'OPTIONS', headers: ASKING }), 400, 'bad_request');
    const methods = await request(api, '/v1/pets', { method: 'OPTIONS', headers: { ...bearer(api.key), Origin } });
    expect(methods).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } });
  });
});

describe('a page may send', () => {
  /** What is allowed besides the headers that always are. */
  const othersOf = async (asked: string) => {
    const { status, headers } = await preflight(api, { ...ASKING, 'Access-Control-Request-Headers': asked });
    const allowed = headers['access-control-allow-headers'] ?? '';
    expect([status, allowed.slice(0, TAKEN.length)]).toEqual([204, TAKEN]);
    return allowed.slice(TAKEN.length + 2);
  };

  it.each([
    ['traces', 'baggage,b3,sentry-trace,tracestate,x-amzn-trace-id,x-b3-traceid,x-datadog-origin'],
    ['what frameworks add', 'cache-control,pragma,x-csrf-token,x-requested-with'],
    ['any name that is a token', "x_y,1,a.b,!#$%&'+^`|~"],
  ])('%s', async (_case, asked) => {
    expect(await othersOf(`authorization,${asked}`)).toBe(asked.replaceAll(',', ', '));
  });

  it('a name in any letters and with white space, which is allowed once', async () => {
    expect(await othersOf(' Baggage ,\tBAGGAGE,, If-Match')).toBe('baggage');
  });

  it.each([
    ['a proxy', 'forwarded,x-forwarded-for,x-forwarded-host,x-forwarded-proto,x-real-ip,true-client-ip,via'],
    ['a proxy, for a server that reads _ as -', 'x_forwarded_for,X_Real_IP,cf_connecting_ip'],
    ['a network', 'cf-connecting-ip,fastly-client-ip,x-original-url,x-rewrite-url,max-forwards,proxy-authorization'],
    ['a browser', 'cookie,host,origin,referer,date,dnt,expect,sec-fetch-site,accept-encoding,access-control-x'],
    ['framing', 'connection,content-length,keep-alive,te,trailer,transfer-encoding,upgrade'],
  ])('nothing that is for %s', async (_case, asked) => {
    expect(await othersOf(`${asked},baggage`)).toBe('baggage');
  });

  it.each(['*', '* , x-*', 'a b', 'é', '"a"', 'a:b', 'a/b', 'x'.repeat(65)])(
    'nothing by %j, which is no name or would allow all',
    async (asked) => {
      expect(await othersOf(`${asked},x-forwarded-for`)).toBe('');
    },
  );

  it('up to 64 other headers', async () => {
    const names = Array.from({ length: 900 }, (_, index) => `x-${index}`);
    expect(await othersOf(names.join())).toBe(names.slice(0, 64).join(', '));
  });
});

it('a page can read every header that the description has', () => {
  const exposed = readableBy('*')['access-control-expose-headers'].split(', ');
  expect(exposed.sort()).toEqual([...describedHeaders()].sort());
});

describe('with a list of origins', () => {
  it.each(['https://a.example', 'https://b.example:8443'])('the answers are readable by %s', async (origin) => {
    const readable = { ...readableBy(origin), vary: 'Origin' };
    expect(corsOf(await request(listed, '/v1/pets', { headers: { Origin: origin } }))).toEqual(readable);
    const answer = await preflight(listed, { ...ASKING, Origin: origin });
    const vary = 'Origin, Access-Control-Request-Headers';
    expect(corsOf(answer)).toEqual({ ...readable, ...PREFLIGHT, vary });
  });

  it.each([PAGE, 'https://a.example.evil.example', 'null', 'https://a.example, https://b.example:8443'])(
    'they are not by %s',
    async (Origin) => {
      expect(corsOf(await request(listed, '/v1/pets', { headers: { Origin } }))).toEqual({ vary: 'Origin' });
      const answer = await preflight(listed, { ...ASKING, Origin });
      expect([answer.status, corsOf(answer)]).toEqual([204, { vary: 'Origin' }]);
    },
  );

  it('a cache knows that they depend on the origin, also by an answer without one', async () => {
    expect(corsOf(await request(listed, '/v1/pets'))).toEqual({ vary: 'Origin' });
  });
});

it('nothing is readable if no origin is allowed, and a preflight is any other request', async () => {
  const refused = await preflight(closed);
  expectError(refused, 401, 'missing_api_key');
  const all = [refused, await request(closed, '/v1/pets', { headers: { Origin: PAGE } })];
  for (const bytes of Object.values(AT_THE_SOCKET)) all.push(await sendOnce(closed, bytes(`Origin: ${PAGE}`)));
  expect(all.map(corsOf)).toEqual(all.map(() => ({})));
});
