import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyText } from '@adoption-store/domain';
import {
  ask,
  createDatabase,
  DatabaseGate,
  type Environment,
  type Finished,
  type Running,
  type TestDatabase,
} from '@adoption-store/test-support';
import { sendRaw } from '@adoption-store/api/testing/raw-http';
import { issueKey, startApi as start, startWorker } from '../support/services.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const KEY = /aas_[a-z]+_[0-9A-Za-z]{20,}/;
const cryptography = {
  randomBytes: (length: number) => randomBytes(length),
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

let database: TestDatabase;
let key: string;
const running: Running[] = [];

beforeAll(async () => {
  database = await createDatabase();
  key = await issueKey({ DATABASE_URL: database.url }, 'logged@example.com');
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop('SIGKILL')));
});

afterAll(() => database.drop());

async function startApi(environment: Environment = {}) {
  const started = await start({ DATABASE_URL: database.url, LOG_LEVEL: 'info', LAME_DUCK: '0s', ...environment });
  running.push(started.service);
  return started;
}

const call = (address: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
  fetch(address, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } });
const json = { 'content-type': 'application/json' };

/** Calls the work for each, at most `limit` at a time. */
async function concurrently<Each>(
  limit: number,
  all: readonly Each[],
  work: (each: Each, index: number) => Promise<unknown>,
) {
  const rest = all.entries();
  const caller = async () => {
    for (const [index, each] of rest) await work(each, index);
  };
  await Promise.all(Array.from({ length: limit }, caller));
}

type Line = Readonly<Record<string, unknown>>;

function linesOf({ stdout }: Pick<Finished, 'stdout'>): readonly Line[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line);
}

const requestsIn = (ended: Pick<Finished, 'stdout'>) => linesOf(ended).filter(({ msg }) => msg === 'request');

describe('each request is one line of JSON', () => {
  const MANY = Array.from({ length: 1_000 }, (_, index) => `many-${index}`);
  let pid: number | undefined;
  let lines: readonly Line[];
  let messageId: string;
  let first: Response;
  const lineOf = (id: string | null) => {
    const [line, ...others] = lines.filter(({ request_id }) => request_id === id);
    expect(others).toEqual([]);
    return line;
  };

  beforeAll(async () => {
    const { service: api, origin, target } = await startApi();
    pid = api.child.pid;
    first = await call(`${origin}/v1/pets?limit=1`, { traceparent: TRACEPARENT });
    // Even a few lines must be written soon.
    await api.prints(/"msg":"request"/);
    await call(`${origin}/v1/pets/99`, { traceparent: 'nonsense', 'x-request-id': 'unknown-pet' });
    await fetch(`${origin}/v1/pets`, { headers: { 'x-request-id': 'stranger' } });
    for (const path of ['/livez', '/readyz']) expect((await fetch(origin + path)).status).toBe(200);
    await sendRaw(target, 'NONSENSE\r\n\r\n');
    await sendRaw(target, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: connects\r\n\r\n');
    const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: breaks\r\n`;
    await sendRaw(target, `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`);
    const message = { method: 'POST', body: '{"message":"Hello"}' };
    const queued = await call(`${origin}/v1/messages`, { traceparent: TRACEPARENT, ...json }, message);
    ({ id: messageId } = (await queued.json()) as { id: string });
    await concurrently(20, MANY, async (id) =>
      (await call(`${origin}/v1/pets?limit=1`, { 'x-request-id': id })).text(),
    );
    lines = requestsIn(await api.stop('SIGTERM'));
  });

  it('with its id, trace, key, route, status and duration', () => {
    const line = lineOf(first.headers.get('x-request-id'));
    expect(line).toEqual({
      level: 30,
      msg: 'request',
      name: 'api',
      pid,
      hostname: expect.any(String),
      time: expect.any(Number),
      request_id: expect.any(String),
      trace_id: TRACE,
      span_id: expect.stringMatching(/^(?!b7ad6b7169203331)[0-9a-f]{16}$/),
      key_id: '1',
      method: 'GET',
      route: '/v1/pets',
      status: 200,
      duration_ms: expect.any(Number),
    });
    expect(Math.abs(Number(line?.['time']) - Date.now())).toBeLessThan(600_000);
    // The response has the request's id. The client already knows its own trace.
    expect(first.headers.get('traceparent')).toBeNull();
  });

  it.each([
    ['unknown-pet', { method: 'GET', route: '/v1/pets/{petId}', status: 404, key_id: '1' }],
    ['stranger', { method: 'GET', route: '/v1/pets', status: 401 }],
    ['connects', { method: 'CONNECT', route: '*', status: 405 }],
    ['breaks', { method: 'POST', route: '/v1/pets', status: 400 }],
  ])('also one that is refused: %s', (id, expected) => {
    expect(lineOf(id)).toMatchObject({ ...expected, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it('even for an unparsable request, with only its response', () => {
    const unread = lines.filter(({ method }) => method === undefined);
    expect(unread).toEqual([expect.objectContaining({ route: '*', status: 400, request_id: expect.any(String) })]);
  });

  it('except health checks', () => {
    expect(lines.filter(({ route }) => /livez|readyz/.test(String(route)))).toEqual([]);
  });

  it('and no line is lost or cut when the service stops', () => {
    const logged = lines.map(({ request_id }) => String(request_id)).filter((id) => id.startsWith('many-'));
    expect(logged.sort()).toEqual([...MANY].sort());
  });

  it('whose trace and id are in the line of its message’s delivery', async () => {
    const { service: worker } = await startWorker({ DATABASE_URL: database.url });
    running.push(worker);
    await worker.prints(/"outcome":"sent"/);
    const delivery = linesOf(worker).find(({ outcome }) => outcome === 'sent');
    const queued = lines.find(({ route }) => route === '/v1/messages');
    expect(queued).toMatchObject({ trace_id: TRACE, request_id: expect.any(String) });
    const { request_id, trace_id } = queued ?? {};
    expect(delivery).toMatchObject({ name: 'worker', message: messageId, trace_id, request_id });
  });
});

it('no key, body, query or Authorization header is in a log, an error or the database, whatever is sent and fails', async () => {
  const gate = await DatabaseGate.open(database.url);
  const { service: api, origin } = await startApi({ DATABASE_URL: gate.url, LOG_LEVEL: 'trace' });
  const statuses = new Set<number>();
  const send = async (path: string, headers: Readonly<Record<string, string>>, init: RequestInit = {}) => {
    const response = await fetch(`${origin}${path}`, { ...init, headers });
    statuses.add(response.status);
    expect(await response.text()).not.toMatch(KEY);
  };
  const keys = Array.from({ length: 1_000 }, (_, index) =>
    index % 21 === 0 ? key : generateKeyText('live', cryptography),
  );
  // A careless client could put its key anywhere: the headers, the path, the query.
  await concurrently(16, keys, async (each, index) => {
    const paths = ['/pets', `/pets/${each}`, `/pets?limit=${each}`, `/${each}`, `/pets?${each}=1`];
    await send(`/v1${paths[index % paths.length] ?? ''}`, {
      authorization: `Bearer ${each}`,
      'x-request-id': each,
      traceparent: each,
    });
  });
  expect([...statuses].sort()).toEqual([200, 400, 401, 404]);
  const bodies = ['{"name":"canary-1","categoryId":1}', '{"name":"canary-2",', '{"name":"canary","categoryId":"x"}'];
  bodies.push(`{"${key}":1,"${key}":2}`);
  const sendCanaries = async () => {
    for (const body of bodies)
      for (const authorization of [`Bearer ${key}`, 'Bearer canary-4', 'canary-5']) {
        const headers = { authorization, ...json, 'idempotency-key': 'canary-6' };
        await send('/v1/pets?canary-7', headers, { method: 'POST', body });
      }
  };
  await sendCanaries();
  gate.shut();
  while (!statuses.has(503)) await sendCanaries();
  const ended = await api.stop();
  expect(ended.stdout).toContain('service_unavailable');
  expect(ended.stdout).toContain('"request_id":"redacted"');
  expect(requestsIn(ended).length).toBeGreaterThanOrEqual(keys.length);
  expect(ended.stdout + api.errors).not.toMatch(/canary|bearer/i);
  // The demo command that it prints at the start has none, either.
  expect(ended.stdout + api.stderr).not.toMatch(KEY);
  const tables = await ask<{ name: string }>(
    database.url,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  for (const { name } of tables)
    expect(JSON.stringify(await ask(database.url, `SELECT * FROM ${name}`))).not.toMatch(KEY);
});

describe('with ACCESS_LOG=off', () => {
  it('only failures are logged, with the request’s id', async () => {
    const other = await createDatabase();
    const { service: api, origin } = await startApi({ ACCESS_LOG: 'off', DATABASE_URL: other.url });
    expect((await fetch(`${origin}/v1/pets`)).status).toBe(401);
    await other.drop();
    const response = await call(`${origin}/v1/pets`);
    expect(response.status).toBe(503);
    const ended = await api.stop();
    expect(requestsIn(ended)).toEqual([]);
    const trace_id: unknown = expect.stringMatching(/^[0-9a-f]{32}$/);
    const request_id = response.headers.get('x-request-id');
    const failure = { level: 50, request_id, trace_id, route: '/v1/pets', msg: 'service_unavailable' };
    expect(linesOf(ended)).toContainEqual(expect.objectContaining(failure));
  });
});
