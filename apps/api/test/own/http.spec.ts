import { once } from 'node:events';
import { connect } from 'node:net';
import { type Application, createApplication, MINUTE, plan } from '@adoption-store/domain';
import { inMemoryPorts } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { connectTo, createDatabase, DatabaseGate, type TestDatabase, until } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { finalize, type Observable } from 'rxjs';
import { ApiMetrics, type ApiOptions, createApi } from '../../src/create-api.js';
import { startApi, type TestApi, useApi } from '../support/api.js';
import { expectError, expectHeadError, expectLimitHeaders } from '../support/expectations.js';
import { bearer, createPet, get, listPets, rawHead } from '../support/pets-client.js';
import { isPooled } from '../support/pooled.js';
import { parseResponses, type RawResponse, request, sendRaw, sendUndescribed } from '../support/raw-http.js';
import { end, MESSAGES, ORDERS, postMessage, postOrder } from '../support/store-client.js';

const ADDRESS_LIMIT = 10_000;
const GET = 'GET /v1/pets HTTP/1.1';
const SECRET = 'password=hunter2';
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

type Ports = Parameters<typeof createApplication>[0];

/** The response of an application that is broken by `ports`. */
async function answerOf(
  breakIt: (ports: Ports) => Partial<Ports>,
  path: string,
  options: { readonly method?: string; readonly body?: string } = {},
): Promise<RawResponse> {
  const ports = inMemoryPorts();
  const key = await issueKey(createApplication(ports));
  const application = createApplication({ ...ports, ...breakIt(ports) });
  const isReady = () => Promise.resolve(true);
  const api = await createApi({ application, clock: ports.clock, isReady });
  await api.listen(0, '127.0.0.1');
  try {
    const port = Number(new URL(await api.getUrl()).port);
    const headers = { ...bearer(key), 'Content-Type': 'application/json', 'X-Request-Id': 'my-own' };
    return await request({ host: '127.0.0.1', port }, path, { ...options, headers });
  } finally {
    await api.close();
  }
}

async function issueKey({ openAccount, issueKey: issue }: Application): Promise<string> {
  const account = await openAccount.execute({ email: 'a@example.com', plan: plan('business') });
  return (await issue.execute({ accountId: account.id })).text;
}

function brokenAnimals(error: unknown): () => Partial<Ports> {
  const fail = jest.fn<() => Promise<never>>().mockRejectedValue(error);
  return () => ({ animals: { add: fail, findById: fail, list: fail, change: fail, withdraw: fail } });
}

function expectInternalError(response: RawResponse): void {
  expectError(response, 500, 'internal_error');
  expect(response.headers['x-request-id']).toBe('my-own');
  expect(JSON.stringify(response)).not.toMatch(/hunter2|password|\bat \w+|node_modules|\.ts\b|\.js\b/);
}

describe('a defect is answered 500 internal_error without internals', () => {
  const broken = brokenAnimals(new Error(SECRET));

  it('if listing, adding or getting fails', async () => {
    expectInternalError(await answerOf(broken, '/v1/pets'));
    expectInternalError(await answerOf(broken, '/v1/pets', { method: 'POST', body: LUNA }));
    expectInternalError(await answerOf(broken, '/v1/pets/1'));
  });

  it.each([
    ['POST', ORDERS, '{"petId":1}'],
    ['POST', MESSAGES, '{"message":"Hello"}'],
  ])('if %s %s fails', async (method, path, body) => {
    const fail = () => Promise.reject(new Error(SECRET));
    const orders = { place: fail, findById: fail, list: fail, change: fail, expire: fail };
    const breakIt = ({ messages }: Ports) => ({
      orders,
      messages: Object.assign(messages, { add: fail, findById: fail }),
    });
    expectInternalError(await answerOf(breakIt, path, { method, body }));
  });

  it('if authentication fails, which admits no request', async () => {
    const findByHash = () => Promise.reject(new Error(SECRET));
    const breakIt = ({ apiKeys }: Ports) => ({ apiKeys: Object.assign(apiKeys, { findByHash }) });
    expectInternalError(await answerOf(breakIt, '/v1/pets'));
  });

  it.each([
    ['carries a status of its own', Object.assign(new Error(SECRET), { statusCode: 418, status: 418, code: 'TEAPOT' })],
    ['carries headers', Object.assign(new Error(SECRET), { headers: { 'x-inside': SECRET } })],
    ['has a response like an exception of Nest', Object.assign(new Error(SECRET), { getStatus: () => 404 })],
    ['is a text', SECRET],
    ['is undefined', undefined],
  ])('if the thrown value %s', async (_case, error) => {
    expectInternalError(await answerOf(brokenAnimals(error), '/v1/pets'));
  });

  it.each([
    ['has a field that is no integer', { id: 1n, name: 'Luna', categoryId: SECRET, status: 'available' }],
    ['lacks a field', { id: 1n, name: SECRET }],
  ])('if a stored animal %s', async (_case, animal) => {
    const list = () => Promise.resolve([animal as never]);
    const breakIt = ({ animals }: Ports) => ({ animals: Object.assign(animals, { list }) });
    expectInternalError(await answerOf(breakIt, '/v1/pets'));
  });
});

describe('a response that can’t be sent is 500 internal_error, with its id and limits, and without internals', () => {
  type Break = (fastify: FastifyInstance) => unknown;
  const secret = new Error(SECRET);
  const failToSend: Break = (fastify) =>
    fastify.addHook('onSend', (_request, _reply, _payload, done) => {
      done(secret);
    });
  const breaks: Readonly<Record<string, Break>> = {
    'a hook refuses to send it': failToSend,
    'a hook throws while it is sent': (fastify) =>
      fastify.addHook('onSend', () => {
        throw secret;
      }),
    'a hook fails later while it is sent': (fastify) => fastify.addHook('onSend', () => Promise.reject(secret)),
    'a hook fails before the guards, and one while it is sent': (fastify) =>
      failToSend(fastify.addHook('onRequest', () => Promise.reject(secret))),
    'a hook makes no text of it': (fastify) =>
      fastify.addHook('onSend', (_request, reply, _payload, done) => {
        reply.code(200);
        done(null, { password: SECRET });
      }),
    'a header of it isn’t valid': (fastify) =>
      fastify.addHook('onSend', (_request, reply, _payload, done) => {
        reply.header('x-inside', `${SECRET}\n`);
        done();
      }),
    'a header that is set late isn’t valid': (fastify) =>
      fastify.addHook('onSend', async (_request, reply) => {
        await Promise.resolve();
        reply.header('x-inside', `${SECRET}\n`);
      }),
  };

  it.each(Object.entries(breaks))('if %s', async (_case, breakIt) => {
    const logged = jest.fn();
    const broken = await startApi({
      configure: (nest) => {
        const fastify = nest.getHttpAdapter().getInstance();
        jest.spyOn(fastify.log, 'error').mockImplementation(logged);
        breakIt(fastify);
      },
    });
    try {
      const headers = {
        ...bearer(broken.key),
        'Content-Type': 'application/json',
        'X-Request-Id': 'my-own',
        Origin: PAGE,
      };
      for (const [method, path, body = ''] of [
        ['GET', '/v1/pets'],
        ['POST', '/v1/pets', LUNA],
        ['DELETE', '/v1/pets'],
        ['GET', '/v1/pets#x'],
        ['GET', '/docs'],
      ] as const) {
        const response = await request(broken, path, { method, body, headers });
        expectInternalError(response);
        expect(corsOf(response)['access-control-allow-origin']).toBe(path === '/docs' ? undefined : '*');
        const told = { request_id: 'my-own', route: expect.any(String) };
        expect(logged).toHaveBeenLastCalledWith(told, 'the response could not be sent');
        logged.mockClear();
      }
      expectHeadError(await request(broken, '/v1/pets', { method: 'HEAD', headers }), 500);
      // If Node was to send the 204, it sends no body any more.
      const options = lines('OPTIONS /v1/pets HTTP/1.1', 'Host: a', `Authorization: Bearer ${broken.key}`);
      const [methods] = await sendUndescribed(broken, options);
      expect(methods?.status).toBe(500);
      expectLimitHeaders(methods);
    } finally {
      await broken.close();
    }
  });

  it('if an address of a link isn’t valid, and what was added is there', async () => {
    const broken = await startApi({ publicUrl: 'https://api.example.com\n' });
    try {
      const headers = { ...bearer(broken.key), 'Content-Type': 'application/json', 'X-Request-Id': 'my-own' };
      expectInternalError(await request(broken, '/v1/pets', { method: 'POST', headers, body: LUNA }));
      expect((await get(broken, '/v1/pets')).body).toContain('Luna');
    } finally {
      await broken.close();
    }
  });

  it('nor can requests be counted', async () => {
    const fail = () => Promise.reject(secret);
    const breakIt = ({ requests }: Ports) => ({ requests: Object.assign(requests, { count: fail }) });
    for (const path of ['/v1/pets', '/v1/pets#x']) expectInternalError(await answerOf(breakIt, path));
  });
});

describe('while the database is down the answer is 503 service_unavailable with Retry-After', () => {
  let api: TestApi;
  let server: pg.Client;
  let database: string;
  /** A key that no cache knows yet. */
  let unused: string;

  beforeAll(async () => {
    api = await startApi();
    await createPet(api, LUNA);
    ({ key: unused } = await api.openKey());
    const url = /^postgres:\/\/\/(\w+)/;
    database = url.exec(api.databaseUrl)?.[1] ?? '';
    server = await connectTo(api.databaseUrl.replace(url, 'postgres:///postgres'));
    await closeDatabase();
  });

  afterAll(async () => {
    await server.end();
    await api.close();
  });

  // The service reconnects by itself, so connections are forbidden before the existing ones are terminated.
  async function closeDatabase(): Promise<void> {
    await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    const others = 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1';
    while ((await server.query(others, [database])).rows.length > 0);
  }

  function expectUnavailable(response: RawResponse): void {
    // The dependency isn't named.
    const message = expectError(response, 503, 'service_unavailable');
    expect(message).not.toMatch(/database|postgres|sql|connect|ECONN/i);
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(response.headers).not.toHaveProperty('www-authenticate');
  }

  it.each(['/v1/pets', '/v1/pets?limit=0', '/v1/pets/1', ORDERS, `${ORDERS}/1`, `${MESSAGES}/1`, '/cats'])(
    'to GET %s',
    async (path) => {
      expectUnavailable(await get(api, path, unused));
    },
  );

  it('to POST of an animal, an order, its end and a message', async () => {
    expectUnavailable(await createPet(api, LUNA));
    expectUnavailable(await postOrder(api, '{"petId":1}'));
    expectUnavailable(await end(api, 'complete', 1));
    expectUnavailable(await postMessage(api, '{"message":"Hello"}'));
  });

  it('but still 401 without a key', async () => {
    expectError(await request(api, '/v1/pets'), 401, 'missing_api_key');
  });

  it('until it is back, and the service recovers by itself', async () => {
    await server.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    // A pooler that has failed to connect tries again later.
    if (isPooled) await until(async () => (await postMessage(api, '{"message":"Hello"}')).status === 202);
    const response = await get(api, '/v1/pets');
    expect(response).toMatchObject({ status: 200 });
    expect(JSON.parse(response.body)).toHaveLength(1);
    expect(await postOrder(api, '{"petId":1}')).toMatchObject({ status: 201 });
    expect(await postMessage(api, '{"message":"Hello"}')).toMatchObject({ status: 202 });
  });
});

const PATHS = ['/livez', '/readyz'];

describe.each(PATHS)('%s', (path) => {
  function expectNoApiResponse({ headers }: RawResponse): void {
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': 'my-own' });
    expect(Object.keys(headers).filter((name) => /ratelimit|authenticate/.test(name))).toEqual([]);
  }

  const send = (method: string, target = path) =>
    request(api, target, { method, headers: { 'X-Request-Id': 'my-own' } });

  it.each(['', '?probe=1'])('answers 200 without a key and without limit headers (%j)', async (query) => {
    const response = await send('GET', path + query);
    expect(response).toMatchObject({
      status: 200,
      body: 'ok\n',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
    expectNoApiResponse(response);
  });

  it('answers HEAD as GET, without the body', async () => {
    const response = await send('HEAD');
    expect(response).toMatchObject({ status: 200, body: '', headers: { 'content-length': '3' } });
    expectNoApiResponse(response);
  });

  it.each(['POST', 'DELETE', 'PROPFIND'])('refuses %s with 405 and Allow', async (method) => {
    const response = await send(method);
    expect(response).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect(JSON.parse(response.body)).toEqual({
      code: 'method_not_allowed',
      message: `${method} is not allowed here, only GET, HEAD, OPTIONS`,
      status: 405,
    });
    expectNoApiResponse(response);
  });

  it('answers OPTIONS with 204 and Allow', async () => {
    const response = await send('OPTIONS');
    expect(response).toMatchObject({ status: 204, body: '', headers: { allow: 'GET, HEAD, OPTIONS' } });
    expectNoApiResponse(response);
  });

  it('counts against neither an address nor a key', async () => {
    api.clock.advance(MINUTE);
    const { key } = await api.openKey('free');
    for (let sent = 0; sent < 100; sent += 1) await request(api, path, { headers: bearer(key) });
    const remaining = async (headers: Record<string, string>) =>
      Number((await request(api, '/v1/unknown', { headers })).headers['x-ratelimit-remaining']);
    expect(await remaining({})).toBe(ADDRESS_LIMIT - 1);
    expect(await remaining(bearer(key))).toBe(59);
  });

  it("is still checked by HTTP's rules", async () => {
    const [response] = await sendRaw(api, `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`);
    expectError(response, 400, 'bad_request');
  });

  it.each([`/v1${path}`, `${path}/`, `${path}/x`, path.toUpperCase()])('is not to be had at %s', async (other) => {
    expectError(await request(api, other), 401, 'missing_api_key');
  });
});

describe("an API that can't serve", () => {
  const api = useApi({ isReady: () => Promise.resolve(false) });

  it('is not ready, but lives', async () => {
    expect(await request(api, '/readyz')).toMatchObject({ status: 503, body: 'not ready\n' });
    expect(await request(api, '/livez')).toMatchObject({ status: 200 });
  });
});

describe('an API that is stopping', () => {
  const ending = new AbortController();
  const api = useApi({ ending: ending.signal });

  const headOf = (path: string, headers: readonly string[] = []) => rawHead(api, `GET ${path} HTTP/1.1`, headers);

  it('is not ready, but lives and serves, and closes each connection after its response', async () => {
    const [before] = await sendRaw(api, headOf('/v1/pets'));
    expect(before?.headers).toMatchObject({ connection: 'keep-alive' });
    ending.abort();
    const cases: readonly (readonly [number, string | Buffer])[] = [
      [200, headOf('/v1/pets')],
      [503, headOf('/readyz')],
      [200, headOf('/livez')],
      [404, headOf('/v1/unknown')],
      [401, `GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n`],
      [400, `GET /v1/pets HTTP/1.1\r\n\r\n`],
      [400, `GET /v1/%zz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n\r\n`],
      [400, 'nonsense\r\n\r\n'],
    ];
    for (const [status, bytes] of cases) {
      // Reads until the server has closed the connection.
      const responses = await sendRaw(api, bytes, Infinity);
      expect(responses).toMatchObject([{ status, headers: { connection: 'close' } }]);
    }
  });
});

describe('readiness', () => {
  let database: TestDatabase;
  let gate: DatabaseGate;
  let api: TestApi | undefined;

  beforeAll(async () => {
    database = await createDatabase();
    gate = await DatabaseGate.open(database.url);
  });

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  afterAll(async () => {
    gate.shut();
    await database.drop();
  });

  it('follows the database, and is reported within half a second', async () => {
    const infrastructure = await openInfrastructure({ databaseUrl: gate.url, poolSize: 2 });
    api = await startApi({ isReady: infrastructure.isReady });
    const { host, port } = api;
    const path = '/readyz';
    expect(await request(api, path)).toMatchObject({ status: 200 });
    gate.freeze();
    const before = performance.now();
    // Any number of concurrent probes costs at most one query.
    const asked = await Promise.all(Array.from({ length: 50 }, () => request({ host, port }, path)));
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([503]));
    // Half a second, and ten times that on a busy machine.
    expect(performance.now() - before).toBeLessThan(5_000);
    gate.thaw();
    while ((await request(api, path)).status !== 200);
    await infrastructure.close();
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
