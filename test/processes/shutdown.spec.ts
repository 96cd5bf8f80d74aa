import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  connectTo,
  createDatabase,
  DatabaseGate,
  type Environment,
  type Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { request, type RequestOptions, sendRaw, type Target } from '@adoption-store/api/testing/raw-http';
import { issueKey, startApi } from '../support/services.js';

const LUNA = '{"name":"Luna","categoryId":1}';

let database: TestDatabase;
let client: pg.Client;
let key: string;
let started: Running[] = [];
let sockets: Socket[] = [];

beforeAll(async () => {
  database = await createDatabase();
  key = await issueKey({ DATABASE_URL: database.url }, 'a@example.com');
  client = await connectTo(database.url);
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await Promise.all(started.map((instance) => instance.stop('SIGKILL')));
  started = [];
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

interface Instance extends Target {
  readonly process: Running;
}

async function startInstance(environment: Environment = {}): Promise<Instance> {
  const { service: process, target } = await startApi({ DATABASE_URL: database.url, ...environment });
  started.push(process);
  return { process, ...target };
}

const ownHeaders = () => ({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' });

function send(instance: Instance, path: string, options: RequestOptions = {}) {
  return request(instance, path, { headers: ownHeaders(), ...options });
}

const head = () => `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;

/** Stops the instance. Returns its exit and the milliseconds since the signal. */
async function end({ process }: Instance, signal: NodeJS.Signals = 'SIGTERM') {
  const before = performance.now();
  const { code, stderr } = await process.stop(signal);
  return { code, stderr, took: performance.now() - before };
}

async function isReady(instance: Instance): Promise<boolean> {
  return (await request(instance, '/readyz')).status === 200;
}

/** Waits until connections are refused. */
async function refusesConnections({ host, port }: Instance): Promise<void> {
  await until(async () => {
    const socket = connect(port, host);
    const isRefused = await once(socket, 'connect').catch(() => true);
    socket.destroy();
    return isRefused === true;
  });
}

async function hold({ host, port }: Instance, bytes: string): Promise<Socket> {
  const socket = connect(port, host).on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

describe('from SIGTERM on, an instance', () => {
  it('is not ready, ignores further signals, and continues to serve every client for LAME_DUCK', async () => {
    const instance = await startInstance();
    await until(() => isReady(instance));
    const ended = end(instance);
    while (await isReady(instance));
    instance.process.child.kill('SIGTERM');
    instance.process.child.kill('SIGINT');
    expect(await request(instance, '/livez')).toMatchObject({ status: 200 });
    const before = performance.now();
    while (performance.now() - before < 1_000) {
      const responses = await sendRaw(instance, head(), Infinity);
      expect(responses).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
    }
    const { took, ...how } = await ended;
    expect(how).toEqual({ code: 0, stderr: expect.any(String) });
    expect(took).toBeGreaterThan(3_000);
    expect(took).toBeLessThan(60_000);
  });

  it('finishes the requests in progress, and accepts no new ones', async () => {
    const instance = await startInstance({ LAME_DUCK: '0s' });
    await client.query('BEGIN; LOCK TABLE animals IN ACCESS EXCLUSIVE MODE');
    const answers = Array.from({ length: 5 }, (_, index) => {
      // Without a key they would share a statement.
      const headers = { ...ownHeaders(), 'Idempotency-Key': String(index) };
      return send(instance, '/v1/pets', { method: 'POST', body: LUNA, headers });
    });
    await untilWaiting(5);
    const ended = end(instance);
    await refusesConnections(instance);
    await client.query('COMMIT');
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 201, headers: { connection: 'close' } });
    expect(await ended).toMatchObject({ code: 0 });
  });

  it('never cuts a response, whatever else is sent on its connection', async () => {
    const names = Array.from({ length: 100 }, () => '🐈'.repeat(255));
    await client.query(
      `INSERT INTO animals (name, name_key, category_id, status) SELECT unnest($1::text[]), 'cats', 1, 'available'`,
      [names],
    );
    const instance = await startInstance();
    const [whole] = await sendRaw(instance, head());
    expect(whole?.body.length).toBeGreaterThan(50_000);
    const socket = await hold(instance, head());
    socket.pause();
    const ended = end(instance);
    while (await isReady(instance));
    // This client ignores the request to close the connection.
    const responses = await sendRaw(instance, head().repeat(3), Infinity);
    expect(responses).toMatchObject([{ status: 200, body: whole?.body, headers: { connection: 'close' } }]);
    expect(await ended).toMatchObject({ code: 0 });
    // This client only reads now.
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1'))).resume();
    await once(socket, 'close');
    expect(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString()).toBe(whole?.body);
  });

  it('loses neither a key’s usage nor its last use, nor what it refused', async () => {
    const own = await issueKey({ DATABASE_URL: database.url }, 'b@example.com');
    const instance = await startInstance({ LAME_DUCK: '0s' });
    const headers = { Authorization: `Bearer ${own}` };
    for (let sent = 0; sent < 6; sent += 1) await send(instance, '/v1/pets', { headers });
    await send(instance, '/v1/pets?limit=0', { headers: { ...headers, 'X-Request-Id': 'the-last' } });
    expect(await end(instance)).toMatchObject({ code: 0 });
    const { rows } = await client.query(
      `SELECT day_used, last_used_at IS NOT NULL AS is_known, failed_requests.request_ids AS refused FROM accounts
       JOIN api_keys ON api_keys.account_id = accounts.id
       JOIN request_counts ON request_counts.account_id = accounts.id
       JOIN failed_requests ON failed_requests.account_id = accounts.id WHERE email = 'b@example.com'`,
    );
    expect(rows).toEqual([{ day_used: 7, is_known: true, refused: ['the-last'] }]);
  });
});

describe('an instance ends within SHUTDOWN_TIMEOUT', () => {
  it('with exit code 0, even if clients hold connections, used, unused or with an unfinished request', async () => {
    const instance = await startInstance({ LAME_DUCK: '0s', SHUTDOWN_TIMEOUT: '5s' });
    await hold(instance, '');
    const used = await hold(instance, head());
    await once(used, 'data');
    await hold(instance, head().slice(0, 20));
    await hold(
      instance,
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: 99\r\n\r\n{`,
    );
    const { code, took } = await end(instance);
    expect(code).toBe(0);
    expect(took).toBeLessThan(30_000);
  });

  it.each(['shut', 'freeze'] as const)('with exit code 0 if the database is down (%s)', async (how) => {
    const gate = await DatabaseGate.open(database.url);
    const instance = await startInstance({ LAME_DUCK: '0s', DATABASE_URL: gate.url });
    expect(await send(instance, '/v1/pets')).toMatchObject({ status: 200 });
    gate[how]();
    while (await isReady(instance));
    const { code, took } = await end(instance);
    expect(code).toBe(0);
    expect(took).toBeLessThan(60_000);
    gate.shut();
  });

  it('without the time of LAME_DUCK on Ctrl-C', async () => {
    const { code, took } = await end(await startInstance({ LAME_DUCK: '5m', SHUTDOWN_TIMEOUT: '10m' }), 'SIGINT');
    expect(code).toBe(0);
    expect(took).toBeLessThan(60_000);
  });
});

/** Waits until that many statements wait for the table. */
async function untilWaiting(count: number): Promise<void> {
  const waiting = `SELECT FROM pg_locks WHERE relation = 'animals'::regclass AND NOT granted`;
  await until(async () => (await client.query(waiting)).rowCount === count);
}
