import { once } from 'node:events';
import { connect } from 'node:net';
import { connectTo, until } from '@adoption-store/test-support';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import { ApiMetrics, type ApiOptions } from '../../src/create-api.js';
import { startApi, type TestApi, useApi } from '../support/api.js';
import { expectError, expectLimitHeaders } from '../support/expectations.js';
import { bearer, get, listPets, rawHead } from '../support/pets-client.js';
import { parseResponses, type RawResponse, request, sendRaw } from '../support/raw-http.js';

const ADDRESS_LIMIT = 10_000;
const GET = 'GET /v1/pets HTTP/1.1';
const LUNA = '{"name":"Luna","categoryId":1}';
const PAGE = 'https://shop.example';

const routes: { readonly method: string; readonly url: string }[] = [];
/** The responses that a Fastify plugin and a Nest interceptor have seen. */
const seen = { sent: [] as number[], responded: [] as number[], intercepted: 0 };

class CountingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      finalize(() => {
        seen.intercepted += 1;
      }),
    );
  }
}

const configure: ApiOptions['configure'] = (api) => {
  const fastify = api.getHttpAdapter().getInstance();
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url: url.replace(/:[^/]+/g, '1') });
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    seen.sent.push(reply.statusCode);
    done();
  });
  fastify.addHook('onResponse', (_request, reply, done) => {
    seen.responded.push(reply.statusCode);
    done();
  });
  api.useGlobalInterceptors(new CountingInterceptor());
};

const metrics = new ApiMetrics(
  () => ({
    pool: { idle: 0, used: 0, size: 0, waiting: 0 },
    limitFallbacks: 0,
    droppedRefusals: 0,
    clockSkew: 0,
    dependencies: new Map(),
  }),
  [],
);
const api = useApi({ configure, metrics }, { addressLimit: ADDRESS_LIMIT });

const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
const own = () => ['Host: a', `Authorization: Bearer ${api.key}`];
const post = (body: string) =>
  lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, `Content-Length: ${body.length}`) + body;

/** [request bytes, expected status, whether a handler is reached] */
const ANSWERS: Readonly<Record<string, readonly [bytes: () => string, status: number, isHandled: boolean]>> = {
  'a list': [() => lines('GET /v1/pets HTTP/1.1', ...own()), 200, true],
  'a head': [() => lines('HEAD /v1/rate_limit HTTP/1.1', ...own(), 'Connection: close'), 200, true],
  'a new animal': [() => post(LUNA), 201, true],
  'an animal that is not there': [() => lines('GET /v1/pets/404 HTTP/1.1', ...own()), 404, true],
  'the methods of a path': [() => lines('OPTIONS /v1/pets HTTP/1.1', ...own()), 204, true],
  'a preflight': [
    () => lines('OPTIONS /v1/pets HTTP/1.1', 'Host: a', `Origin: ${PAGE}`, 'Access-Control-Request-Method: POST'),
    204,
    false,
  ],
  'an unknown path': [() => lines('GET /v1/cats HTTP/1.1', ...own()), 404, true],
  'a path that no router takes': [() => lines('GET /v1/%zz HTTP/1.1', ...own()), 400, true],
  'another method': [() => lines('DELETE /v1/pets HTTP/1.1', ...own()), 405, true],
  'a field that is not valid': [() => post('{"name":1}'), 400, true],
  'a body that is no JSON': [() => post('{'), 400, true],
  'a body that is too large': [
    () => lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, 'Content-Length: 70000', 'Connection: close'),
    413,
    true,
  ],
  'a bad chunk': [() => `${lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, CHUNKED)}zz\r\n`, 400, true],
  'no key': [() => lines('GET /v1/pets HTTP/1.1', 'Host: a'), 401, false],
  'no Host': [() => lines('GET /v1/pets HTTP/1.1'), 400, false],
  'a fragment': [() => lines('GET /v1/pets#x HTTP/1.1', ...own()), 400, false],
  'an odd Expect': [() => lines('GET /v1/pets HTTP/1.1', ...own(), 'Expect: x'), 417, false],
  'a page beside the API': [() => lines('GET /docs HTTP/1.1', 'Host: a'), 200, false],
  'a page beside the API, refused': [() => lines('GET /docs#x HTTP/1.1', 'Host: a'), 400, false],
  'an exhausted minute': [
    () => lines('GET /v1/pets HTTP/1.1', 'Host: a', `Authorization: Bearer ${exhausted}`),
    429,
    false,
  ],
};

let exhausted = '';

describe('a plugin and an interceptor that are added tomorrow see', () => {
  beforeAll(async () => {
    ({ key: exhausted } = await api.openKey('free'));
  });

  beforeEach(() => {
    Object.assign(seen, { sent: [], responded: [], intercepted: 0 });
  });

  afterEach(() => {
    expect(seen.responded).toEqual(seen.sent);
  });

  it.each(Object.entries(ANSWERS))('%s', async (name, [bytes, status, isHandled]) => {
    if (name === 'an exhausted minute') await exhaust();
    const [answer] = await sendRaw(api, bytes(), name === 'a head' ? Infinity : 1);
    expect(answer?.status).toBe(status);
    expect(seen.sent).toEqual([status]);
    expect(seen.intercepted).toBe(isHandled ? 1 : 0);
  });
});

async function exhaust(): Promise<void> {
  const ask = lines('GET /v1/pets HTTP/1.1', 'Host: a', `Authorization: Bearer ${exhausted}`);
  for (let status: number | undefined = 200; status === 200;)
    [{ status } = { status: undefined }] = await sendRaw(api, ask);
  Object.assign(seen, { sent: [], responded: [], intercepted: 0 });
}

describe('no answer that a cache may keep has a cookie,', () => {
  it('whichever route of the API and its pages it is of', async () => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const offered = routes.filter(({ method }) => methods.includes(method));
    expect(offered.length).toBeGreaterThan(10);
    for (const { method, url } of offered) {
      const headers = { cookie: 'session=a; csrf=b; __Host-session=c' };
      const answer = await fetch(api.origin + url.replaceAll('*', 'nowhere'), { method, headers });
      await answer.arrayBuffer();
      expect([method, url, answer.headers.getSetCookie()]).toEqual([method, url, []]);
    }
  });
});

/** The number of list requests that were counted with this status. */
async function counted(status: number): Promise<number> {
  const { body: text } = await metrics.page();
  const line = new RegExp(`_count\\{[^}]*route="/v1/pets",status="${status}"[^}]*\\} (\\d+)`).exec(text);
  return Number(line?.[1] ?? 0);
}

it('a request whose client disconnected is counted once as 499, not as served, and in the usage of its key', async () => {
  const { account, key } = await api.openKey();
  const mine = { ...api, key };
  const client = await connectTo(api.databaseUrl);
  expect((await get(api, '/v1/pets', key)).status).toBe(200);
  const [served, hungUp] = [await counted(200), await counted(499)];
  await client.query('BEGIN');
  await client.query('LOCK TABLE animals IN ACCESS EXCLUSIVE MODE');
  const socket = connect(api.port, api.host);
  await once(socket, 'connect');
  socket.write(rawHead(mine, 'GET /v1/pets HTTP/1.1', []));
  await until(async () => {
    const { rows } = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  });
  socket.resetAndDestroy();
  await until(async () => (await counted(499)) === hungUp + 1);
  await client.query('COMMIT');
  expect((await get(api, '/v1/pets?limit=1', key)).status).toBe(200);
  expect([await counted(499), await counted(200)]).toEqual([hungUp + 1, served + 1]);
  await until(async () => {
    const { rows } = await client.query<{ sum: string }>(
      'SELECT sum(admitted) FROM usage_by_day WHERE account_id = $1',
      [account.id],
    );
    return rows[0]?.sum === '3';
  });
  await client.end();
});

const REQUEST_ID = 'the-client_s-own-id';
/** Clients of each kind that go on sending a byte now and then; one more sends nothing. */
const SLOW_CLIENTS = 5;
const TRICKLE_MS = 200;

const unfinished = (header: string) =>
  rawHead(api, 'POST /v1/pets HTTP/1.1', ['Content-Type: application/json', `X-Request-Id: ${REQUEST_ID}`, header]);

/** Requests that never end, and what a slow client sends then. */
const UNFINISHED = {
  'the request line': [() => 'GET /v1/pe', 't'],
  'the headers': [() => `${GET}\r\nHost: localhost\r\nX-Unfinis`, 'h'],
  'the headers, before the empty line': [() => rawHead(api, GET).slice(0, -2), 'x'],
  'a body of known length': [() => `${unfinished('Content-Length: 5000')}{"name":`, ' '],
  'a body of which nothing comes': [() => unfinished('Content-Length: 5000'), ' '],
  'a body in chunks, between two': [() => `${unfinished('Transfer-Encoding: chunked')}8\r\n{"name":\r\n`, '0'],
  'a body in chunks, inside one': [() => `${unfinished('Transfer-Encoding: chunked')}1388\r\n{"name":`, ' '],
} as const;

let outcomes: ReadonlyMap<string, readonly (readonly RawResponse[])[]>;
let served = 0;

/** Sends the bytes, and then one byte after the other, until the server closes. */
function responsesTo(bytes: string, trickle: string): Promise<readonly RawResponse[]> {
  const socket = connect(api.port, api.host);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined);
  socket.write(bytes);
  const timer = setInterval(() => trickle !== '' && socket.writable && socket.write(trickle), TRICKLE_MS);
  return new Promise((resolve) => {
    socket.on('close', () => {
      clearInterval(timer);
      resolve(parseResponses(Buffer.concat(received), true));
    });
  });
}

describe('a request that is left unfinished, or sent byte by byte, is answered 408 request_timeout:', () => {
  // All run at once, so that the suite takes as long as one of them. Without a time limit it would never end.
  beforeAll(async () => {
    let isOver = false;
    const ends = Object.entries(UNFINISHED).map(async ([what, [bytes, trickle]]) => {
      const clients = Array.from({ length: SLOW_CLIENTS }, () => responsesTo(bytes(), trickle));
      return [what, await Promise.all([responsesTo(bytes(), ''), ...clients])] as const;
    });
    const all = Promise.all(ends).finally(() => {
      isOver = true;
    });
    const beHonest = async () => {
      for (; !isOver; served += 1) expect(await listPets(api, '?limit=1')).toMatchObject({ status: 200 });
    };
    const [entries] = await Promise.all([all, beHonest()]);
    outcomes = new Map(entries);
  });

  it.each(Object.keys(UNFINISHED))('%s', (what) => {
    expect(outcomes.get(what)).toHaveLength(SLOW_CLIENTS + 1);
    for (const responses of outcomes.get(what) ?? []) {
      expect(responses).toHaveLength(1);
      expectError(responses[0], 408, 'request_timeout');
      expect(responses[0]?.headers['connection']).toBe('close');
    }
  });

  it("and keeps the client's own X-Request-Id where that had come", () => {
    expect(outcomes.get('a body of known length')?.[0]?.[0]?.headers['x-request-id']).toBe(REQUEST_ID);
  });

  it('and delays nobody: an honest client is served meanwhile', () => {
    // One that had to wait for them would be served once or twice.
    expect(served).toBeGreaterThan(10);
  });
});

describe('to a page of another origin', () => {
  const EXPOSED =
    'ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
    'Deprecation, Sunset, X-Stability, Idempotent-Replayed';
  const readableBy = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED,
  });
  const PREFLIGHT = {
    'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
    'access-control-allow-headers':
      'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, User-Agent, X-Request-Id, traceparent',
    'access-control-max-age': '7200',
  };
  const ASKING = {
    Origin: PAGE,
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'if-match',
  };
  const asOf = (bytes: string, origin: string) => bytes.replace('\r\n', `\r\nOrigin: ${origin}\r\n`);
  const preflight = (to: TestApi, headers: Readonly<Record<string, string>> = ASKING) =>
    request(to, '/v1/pets/1', { method: 'OPTIONS', headers });
  const AT_THE_SOCKET: Readonly<Record<string, string>> = {
    'what is no HTTP': 'GET /v1/pets HTTP/1.1\r\nnonsense\r\n\r\n',
    'too large headers': lines('GET /v1/pets HTTP/1.1', `Cookie: ${'x'.repeat(17_000)}`),
    CONNECT: lines('CONNECT x:443 HTTP/1.1', 'Host: x:443'),
  };

  async function withOrigins(corsOrigins: readonly string[], use: (api: TestApi) => Promise<void>): Promise<void> {
    const listed = await startApi({ corsOrigins });
    try {
      await use(listed);
    } finally {
      await listed.close();
    }
  }

  it.each(Object.entries(ANSWERS).filter(([name]) => !/^a (page|preflight)/.test(name)))(
    'the answer to %s is readable, and shows nothing of it to others',
    async (name, [bytes]) => {
      const count = name === 'a head' ? Infinity : 1;
      const [answer] = await sendRaw(api, asOf(bytes(), PAGE), count);
      expect(answer && corsOf(answer)).toEqual(readableBy('*'));
      const [other] = await sendRaw(api, bytes(), count);
      expect(other && corsOf(other)).toEqual({});
    },
  );

  it.each(Object.entries(AT_THE_SOCKET))('the refusal of %s at the socket is readable', async (_case, bytes) => {
    const [answer] = await sendRaw(api, asOf(bytes, PAGE));
    expect(answer && corsOf(answer)).toEqual(readableBy('*'));
  });

  it('pages beside the API stay closed', async () => {
    for (const path of ['/', '/docs', '/openapi.json', '/llms.txt', '/livez']) {
      const { headers } = await request(api, path, { headers: { Origin: PAGE } });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('a preflight is answered 204 without a key, whatever is at the path, and shows the limits of the address', async () => {
    for (const path of ['/v1', '/v1/pets', '/v1/pets/1?x', '/v1/none', '/v1//pets', 'http://x/v1/pets']) {
      const answer = await request(api, path, { method: 'OPTIONS', headers: ASKING });
      expect(answer).toMatchObject({ status: 204, body: '' });
      expect(corsOf(answer)).toEqual({ ...readableBy('*'), ...PREFLIGHT });
      expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^content-/)]));
      expectLimitHeaders(answer);
    }
  });

  it('a preflight costs nothing, and is answered to an address without requests left', async () => {
    const poor = await startApi({}, { addressLimit: 1 });
    try {
      const left = async () => (await preflight(poor)).headers['x-ratelimit-remaining'];
      expect([await left(), await left()]).toEqual(['1', '1']);
      expectError(await request(poor, '/v1/pets'), 401, 'missing_api_key');
      expectError(await request(poor, '/v1/pets'), 429, 'rate_limited');
      expect([await left(), (await preflight(poor)).status]).toEqual(['0', 204]);
    } finally {
      await poor.close();
    }
  });

  it('only a real preflight is one', async () => {
    const { Origin, ...withoutOrigin } = ASKING;
    expectError(await preflight(api, withoutOrigin), 401, 'missing_api_key');
    expectError(await preflight(api, { Origin }), 401, 'missing_api_key');
    expectError(await request(api, '/v1/pets', { headers: ASKING }), 401, 'missing_api_key');
    for (const path of ['/v2/pets', '/v1x'])
      expectError(await request(api, path, { method: 'OPTIONS', headers: ASKING }), 401, 'missing_api_key');
    const methods = await request(api, '/v1/pets', { method: 'OPTIONS', headers: { ...bearer(api.key), Origin } });
    expect(methods).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } });
    expect(await request(api, '/docs', { method: 'OPTIONS', headers: ASKING })).toMatchObject({
      status: 204,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    expectError(await request(api, '/v1/pets#x', { method: 'OPTIONS', headers: ASKING }), 400, 'bad_request');
  });

  it('of the named origins the answers are readable, and of no other', async () => {
    const [one, other] = ['https://a.example', 'https://b.example:8443'];
    await withOrigins([one, other], async (listed) => {
      for (const origin of [one, other]) {
        const readable = { ...readableBy(origin), vary: 'Origin' };
        expect(corsOf(await request(listed, '/v1/pets', { headers: { Origin: origin } }))).toEqual(readable);
        const answer = await preflight(listed, { ...ASKING, Origin: origin });
        expect(corsOf(answer)).toEqual({ ...readable, ...PREFLIGHT });
      }
      // The answer depends on the origin, so a cache must know even of one without it.
      expect(corsOf(await request(listed, '/v1/pets'))).toEqual({ vary: 'Origin' });
      for (const Origin of [PAGE, 'https://a.example.evil.example', 'null', `${one}, ${other}`]) {
        expect(corsOf(await request(listed, '/v1/pets', { headers: { Origin } }))).toEqual({ vary: 'Origin' });
        const answer = await preflight(listed, { ...ASKING, Origin });
        expect([answer.status, corsOf(answer)]).toEqual([204, { vary: 'Origin' }]);
      }
      for (const bytes of Object.values(AT_THE_SOCKET))
        expect((await sendRaw(listed, asOf(bytes, one))).map(corsOf)).toEqual([readableBy('*')]);
      expect(corsOf(await request(listed, '/docs', { headers: { Origin: one } }))).toEqual({ vary: 'Accept-Encoding' });
    });
  });

  it('nothing is readable if no origin is allowed, and a preflight is any other request', async () => {
    await withOrigins([], async (closed) => {
      expectError(await preflight(closed), 401, 'missing_api_key');
      const all = [await preflight(closed), await request(closed, '/v1/pets', { headers: { Origin: PAGE } })];
      for (const bytes of Object.values(AT_THE_SOCKET)) all.push(...(await sendRaw(closed, asOf(bytes, PAGE))));
      expect(all.map(corsOf)).toEqual(all.map(() => ({})));
    });
  });
});

/** What a browser reads of CORS, and caches of what the answer depends on. */
function corsOf({ headers }: RawResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(access-control-|vary$)/.test(name)));
}
