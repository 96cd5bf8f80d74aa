import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  type Environment,
  type Finished,
  KEYS,
  run,
  Running,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { sendRaw } from '@adoption-store/api/testing/raw-http';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

let database: TestDatabase;
let key: string;
const running: Running[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
  const { stdout } = await run(KEYS, ['create', '--email', 'logged@example.com', ...plan], {
    DATABASE_URL: database.url,
  });
  key = stdout.trim();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop('SIGKILL')));
});

afterAll(() => database.drop());

async function startApi(environment: Environment = {}) {
  const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LAME_DUCK: '0s', ...environment };
  const api = new Running(API, [], settings);
  running.push(api);
  const [, origin = ''] = await api.prints(/Address {2}(\S+)\/v1/);
  return { api, origin, target: { host: '127.0.0.1', port: Number(new URL(origin).port) } };
}

const call = (address: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
  fetch(address, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } });

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
    const { api, origin, target } = await startApi();
    pid = api.child.pid;
    first = await call(`${origin}/v1/pets?limit=1`, { traceparent: TRACEPARENT });
    // Even a few lines must be written soon.
    await api.prints(/"msg":"request"/);
    await call(`${origin}/v1/pets/99`, { traceparent: 'nonsense', 'x-request-id': 'unknown-pet' });
    await fetch(`${origin}/v1/pets`, { headers: { 'x-request-id': 'stranger' } });
    await call(`${origin}/v1/nowhere?secret=1`, { 'x-request-id': 'nowhere' }, { method: 'DELETE' });
    await call(`${origin}/v1/pets?limit=0`, { 'x-request-id': key });
    for (const path of ['/livez', '/readyz']) expect((await fetch(origin + path)).status).toBe(200);
    await sendRaw(target, 'NONSENSE\r\n\r\n');
    await sendRaw(target, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: connects\r\n\r\n');
    await sendRaw(target, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: much\r\nX-Request-Id: expects\r\n\r\n');
    const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: breaks\r\n`;
    await sendRaw(target, `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`);
    const message = await call(
      `${origin}/v1/messages`,
      { traceparent: TRACEPARENT, 'content-type': 'application/json' },
      { method: 'POST', body: '{"message":"Hello"}' },
    );
    ({ id: messageId } = (await message.json()) as { id: string });
    const send = async (ids: readonly string[]) => {
      for (const id of ids) await (await call(`${origin}/v1/pets?limit=1`, { 'x-request-id': id })).text();
    };
    await Promise.all(Array.from({ length: 20 }, (_, lane) => send(MANY.slice(lane * 50, lane * 50 + 50))));
    lines = requestsIn(await api.stop('SIGTERM'));
  });

  it('with its id, trace, key, route, status and duration', () => {
    const line = lineOf(first.headers.get('x-request-id'));
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number),
      pid,
      hostname: expect.any(String),
      name: 'api',
      request_id: expect.any(String),
      trace_id: TRACE,
      span_id: expect.stringMatching(/^(?!b7ad6b7169203331)[0-9a-f]{16}$/),
      key_id: '1',
      method: 'GET',
      route: '/v1/pets',
      status: 200,
      duration_ms: expect.any(Number),
      msg: 'request',
    });
    expect(Math.abs(Number(line?.['time']) - Date.now())).toBeLessThan(60_000);
    // The response has the request's id. The client already knows its own trace.
    expect(first.headers.get('traceparent')).toBeNull();
  });

  it.each([
    ['unknown-pet', { method: 'GET', route: '/v1/pets/{petId}', status: 404, key_id: '1' }],
    ['stranger', { method: 'GET', route: '/v1/pets', status: 401 }],
    ['nowhere', { method: 'DELETE', route: '*', status: 404, key_id: '1' }],
    ['connects', { method: 'CONNECT', route: '*', status: 405 }],
    ['expects', { method: 'GET', route: '/v1/pets', status: 417 }],
    ['breaks', { method: 'POST', route: '/v1/pets', status: 400 }],
  ])('also one that is refused: %s', (id, expected) => {
    expect(lineOf(id)).toMatchObject({ ...expected, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it('even for an unparsable request, with only its response', () => {
    const unread = lines.filter(({ method }) => method === undefined);
    expect(unread).toEqual([expect.objectContaining({ route: '*', status: 400, request_id: expect.any(String) })]);
  });

  it('in a new trace if it has none', () => {
    const traces = lines.map(({ trace_id }) => trace_id).filter((id) => id !== TRACE);
    expect(new Set(traces).size).toBe(traces.length);
  });

  it('without a key that a client sends as its id', () => {
    expect(JSON.stringify(lines)).not.toContain(key);
    expect(lineOf('redacted')).toMatchObject({ status: 400 });
  });

  it('except health checks', () => {
    expect(lines.filter(({ route }) => /livez|readyz/.test(String(route)))).toEqual([]);
  });

  it('and no line is lost or cut when the service stops', () => {
    const logged = lines.map(({ request_id }) => String(request_id)).filter((id) => id.startsWith('many-'));
    expect(logged.sort()).toEqual([...MANY].sort());
  });

  it('whose trace and id are in the line of its message’s delivery', async () => {
    const worker = new Running(WORKER, [], { DATABASE_URL: database.url, WORKER_PORT: '0' });
    running.push(worker);
    await worker.prints(/"outcome":"sent"/);
    const delivery = linesOf(worker).find(({ outcome }) => outcome === 'sent');
    const queued = lines.find(({ route }) => route === '/v1/messages');
    expect(queued).toMatchObject({ trace_id: TRACE, request_id: expect.any(String) });
    expect(delivery).toMatchObject({
      name: 'worker',
      message: messageId,
      trace_id: TRACE,
      request_id: queued?.['request_id'],
    });
  });
});

describe('with ACCESS_LOG=off', () => {
  it('only failures are logged, with the request’s id', async () => {
    const other = await createDatabase();
    const { api, origin } = await startApi({ ACCESS_LOG: 'off', DATABASE_URL: other.url });
    expect((await fetch(`${origin}/v1/pets`)).status).toBe(401);
    await other.drop();
    const response = await call(`${origin}/v1/pets`);
    expect(response.status).toBe(503);
    const ended = await api.stop();
    expect(requestsIn(ended)).toEqual([]);
    expect(linesOf(ended)).toContainEqual(
      expect.objectContaining({
        level: 50,
        request_id: response.headers.get('x-request-id'),
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        route: '/v1/pets',
        msg: 'service_unavailable',
      }),
    );
  });
});

it('is formatted for people on a terminal', async () => {
  // util-linux' script runs a program with its own terminal.
  const terminal = spawn('script', ['-qefc', `exec ${process.execPath} ${API}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: database.url, PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  terminal.stdout.on('data', (chunk) => (output += String(chunk)));
  await until(() => output.includes('Then:') && output.includes('each instance counts requests by itself'));
  terminal.kill('SIGTERM');
  await once(terminal, 'exit');
  expect(output).toMatch(/INFO.*: .*Server listening/);
  expect(output).not.toContain('"level"');
});
