import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';
import { request, sendRaw } from '@adoption-store/api/testing/raw-http';

const CHUNKS = 65_000;
const MEGABYTE = 1_024 * 1_024;
const MOST_MEGABYTES = 64;
/** Honest requests are sent this long: until the chunked ones have timed out. */
const ATTACK_MS = 9_000;

let database: TestDatabase;
let api: Running;
let target: { readonly host: string; readonly port: number };
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  const settings = { DATABASE_URL: database.url, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' };
  api = new Running(API, [], settings);
  const [, address = ''] = await api.prints(/Address {2}(\S+)\/v1/);
  target = { host: '127.0.0.1', port: Number(new URL(address).port) };
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
  key = (await run(KEYS, ['create', '--email', 'chunks@example.com', ...plan], settings)).stdout.trim();
  // First the heap grows to its normal working size.
  for (let round = 0; round < 200; round += 1) await Promise.all(Array.from({ length: 60 }, add));
});

afterAll(async () => {
  await api.stop();
  await database.drop();
});

const head = (length: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\n${length}\r\n\r\n`;

const honest = () => request(target, '/v1/pets?limit=1', { headers: { Authorization: `Bearer ${key}` } });

const add = () =>
  request(target, '/v1/pets', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"name":"Luna","categoryId":1}',
  });

async function memory(): Promise<number> {
  const status = await readFile(`/proc/${api.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

async function attack(bytes: Buffer): Promise<Socket> {
  const socket = connect(target);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

it('a body of 2,000 one-byte chunks is accepted', async () => {
  const body = `{"name":"Luna","categoryId":1,"x":"${'x'.repeat(2_000)}"}`;
  const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('');
  const bytes = `${head('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`;
  const [answer] = await sendRaw(target, bytes, 1);
  expect(answer).toMatchObject({ status: 201 });
});

/**
 * Only detects a hang, because a slow machine needs up to 16 s. With a Buffer per chunk, a machine four times as fast
 * needed 12 s and 107 s.
 */
const TIMEOUT_MS = 30_000;

// With a Buffer per chunk they took 1,357 and 3,710 MB.
it.each([60, 600])(
  `%i bodies of 65,000 one-byte chunks take at most ${MOST_MEGABYTES} MB, and delay no honest request`,
  async (count) => {
    const bytes = Buffer.from(`${head('Transfer-Encoding: chunked')}${'1\r\n \r\n'.repeat(CHUNKS)}0\r\n\r\n`);
    const before = await memory();
    let most = before;
    let slowest = 0;
    const sockets = await Promise.all(Array.from({ length: count }, () => attack(bytes)));
    const until = performance.now() + ATTACK_MS;
    while (performance.now() < until) {
      const startedAt = performance.now();
      expect(await honest()).toMatchObject({ status: 200 });
      slowest = Math.max(slowest, performance.now() - startedAt);
      most = Math.max(most, await memory());
      await delay(10);
    }
    for (const socket of sockets) socket.destroy();
    expect((most - before) / MEGABYTE).toBeLessThan(MOST_MEGABYTES);
    expect(slowest).toBeLessThan(TIMEOUT_MS);
  },
);
