import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  API,
  createDatabase,
  KEYS,
  redisFor,
  run,
  Running,
  type TestDatabase,
  type TestRedis,
} from '@adoption-store/test-support';
import { parseResponses, type RawResponse, request, type Target } from '@adoption-store/api/testing/raw-http';
import { defectsIn } from '../support/defects.js';
import { poison, Random, type Known } from './poisons.js';

/** The number of requests. More take longer and prove more. */
const REQUESTS = Number(process.env['POISON_RUNS'] ?? 1_000);
/** Requests between two comparisons with the database. */
const ROUND = 1_000;
const KEYS_AT_ONCE = 4;
const CONNECTIONS = 8;
const TIMEOUT = 12_000;

const openRedis = redisFor('poisoned caches of replicas that share a Redis');

let database: TestDatabase;
let client: pg.Client;
let redis: TestRedis | undefined;
let replicas: readonly Running[] = [];
let targets: readonly Target[] = [];
let keys: readonly string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  redis = await openRedis?.();
  const settings = {
    DATABASE_URL: database.url,
    HOST: '127.0.0.1',
    PORT: '0',
    TRUST_PROXY: '127.0.0.1',
    ADDRESS_LIMIT: '1000000',
    ORDER_LIMIT: '100000',
    LOG_LEVEL: 'error',
    ...(redis && { REDIS_URL: redis.url }),
  };
  replicas = [new Running(API, [], settings), new Running(API, [], settings)];
  targets = await Promise.all(
    replicas.map(async (replica) => {
      const [, address = ''] = await replica.prints(/Address {2}(\S+)\/v1/);
      return { host: '127.0.0.1', port: Number(new URL(address).port) };
    }),
  );
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const made = Array.from({ length: KEYS_AT_ONCE }, (_, index) =>
    run(KEYS, ['create', '--email', `poison-${index}@example.com`, ...plan], settings),
  );
  keys = (await Promise.all(made)).map(({ stdout }) => stdout.trim());
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(
    `INSERT INTO animals (name, category_id, status)
     SELECT 'Animal ' || n, n % 7, (ARRAY['available', 'pending', 'sold'])[1 + n % 3] FROM generate_series(1, 300) AS n`,
  );
});

afterAll(async () => {
  await client.end();
  await Promise.all(replicas.map((replica) => replica.stop()));
  await redis?.close();
  await database.drop();
});

const counts = new Map<number, number>();
let slowest = 0;

/** Sends pipelined requests on one connection, and returns the responses until the server closes. */
function pipeline(target: Target, bytes: Buffer, count: number): Promise<RawResponse[]> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const socket = connect(target);
    const chunks: Buffer[] = [];
    const end = (responses: RawResponse[]) => {
      slowest = Math.max(slowest, performance.now() - startedAt);
      socket.destroy();
      resolve(responses);
    };
    socket.setTimeout(TIMEOUT, () => {
      reject(new Error(`hangs: ${bytes.toString('latin1')}`));
    });
    socket.on('error', reject);
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const responses = parseResponses(Buffer.concat(chunks), false);
      if (responses.length >= count) end(responses);
    });
    socket.on('close', () => {
      end(parseResponses(Buffer.concat(chunks), true));
    });
  });
}

/** The logs of the replicas. */
function logs(): string {
  return replicas.map(({ stdout }) => stdout.slice(-3_000)).join('\n');
}

async function attack(random: Random, known: Known, count: number): Promise<void> {
  for (let sent = 0; sent < count;) {
    const target = random.one(targets);
    const all = Array.from({ length: Math.min(10, count - sent) }, () => poison(random, random.one(keys), known));
    const responses = await pipeline(target, Buffer.concat(all), all.length);
    for (const { status } of responses) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status >= 500) throw new Error(`${status}: ${logs()}\n${Buffer.concat(all).toString('latin1')}`);
    }
    expect(responses).toHaveLength(all.length);
    sent += all.length;
  }
}

/** Reads the existing ids. */
async function look(): Promise<Known> {
  const column = async (text: string) => (await client.query<{ id: string }>(text)).rows.map(({ id }) => id);
  return {
    pets: await column('SELECT id FROM animals ORDER BY id DESC LIMIT 20'),
    orders: await column('SELECT id FROM orders ORDER BY id DESC LIMIT 20'),
    messages: await column('SELECT id FROM messages ORDER BY created_at DESC LIMIT 20'),
  };
}

async function rows(text: string, values: unknown[] = []): Promise<unknown[]> {
  return (await client.query<Record<string, unknown>>(text, values)).rows;
}

const PET = 'SELECT id::float8, name, category_id::float8 AS "categoryId", status FROM animals';
const TIME = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const ORDER = `SELECT id::float8, animal_id::float8 AS "petId", status, ${TIME('created_at')} AS "createdAt",
  ${TIME('updated_at')} AS "updatedAt" FROM orders`;
const MESSAGE = `SELECT id, text AS message, status, ${TIME('created_at')} AS "createdAt" FROM messages`;

/** Compares the normal responses of every read operation with the database. */
async function compare({ pets, orders, messages }: Known): Promise<number> {
  const [pet = '1'] = pets;
  let compared = 0;
  for (const [index, key] of keys.entries()) {
    const [account] = (await rows('SELECT id FROM accounts WHERE email = $1', [`poison-${index}@example.com`])) as {
      readonly id: string;
    }[];
    const own = [account?.id];
    const [order] = (await rows('SELECT id FROM orders WHERE account_id = $1 ORDER BY id DESC LIMIT 1', own)) as {
      readonly id: string;
    }[];
    const expected: readonly (readonly [path: string, rows: unknown])[] = [
      ['/v1/pets', await rows(`${PET} ORDER BY id LIMIT 20`)],
      ['/v1/pets?limit=1', await rows(`${PET} ORDER BY id LIMIT 1`)],
      ['/v1/pets?limit=100', await rows(`${PET} ORDER BY id LIMIT 100`)],
      ['/v1/pets?status=sold', await rows(`${PET} WHERE status = 'sold' ORDER BY id LIMIT 20`)],
      ['/v1/pets?status=pending&limit=3', await rows(`${PET} WHERE status = 'pending' ORDER BY id LIMIT 3`)],
      [`/v1/pets?id=1&id=${pet}`, await rows(`${PET} WHERE id = ANY($1) ORDER BY id`, [['1', pet]])],
      [`/v1/pets/${pet}`, (await rows(`${PET} WHERE id = $1`, [pet]))[0]],
      ['/v1/store/orders', await rows(`${ORDER} WHERE account_id = $1 ORDER BY id LIMIT 20`, own)],
      [
        '/v1/store/orders?status=placed&limit=2',
        await rows(`${ORDER} WHERE account_id = $1 AND status = 'placed' ORDER BY id LIMIT 2`, own),
      ],
      ...(order === undefined
        ? []
        : [[`/v1/store/orders/${order.id}`, (await rows(`${ORDER} WHERE id = $1`, [order.id]))[0]] as const]),
      ...(await messagesOf(messages, account?.id)),
    ];
    for (const target of targets) {
      for (const [path, there] of expected) {
        const { status, headers, body } = await request(target, path, { headers: { authorization: `Bearer ${key}` } });
        expect({ path, status, body: JSON.parse(body) as unknown }).toEqual({ path, status: 200, body: there });
        for (const [link] of (headers['link'] ?? '').matchAll(/<[^>]+>/g)) {
          expect(link).toContain(`<http://127.0.0.1:${target.port}/`);
        }
        compared += 1;
      }
      const asked = await request(target, '/v1/rate_limit', { headers: { authorization: `Bearer ${key}` } });
      if (asked.status === 200) expect(JSON.parse(asked.body)).toMatchObject({ plan: 'enterprise', ban: null });
      else expect(asked.status).toBe(429);
      compared += 1;
    }
    for (const target of targets) compared += await compareWrites(target, key);
  }
  expect(orders.length).toBeLessThanOrEqual(20);
  return compared;
}

async function messagesOf(ids: readonly string[], account: unknown): Promise<(readonly [string, unknown])[]> {
  const [found] = (await rows(`${MESSAGE} WHERE id = ANY($1) AND account_id = $2 LIMIT 1`, [ids, account])) as {
    readonly id: string;
  }[];
  return found === undefined ? [] : [[`/v1/messages/${found.id}`, found]];
}

/** Compares the normal responses of write operations. */
async function compareWrites(target: Target, key: string): Promise<number> {
  const post = async (path: string, body: object, status: number) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await request(target, path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect({ path, status: answer.status, body: answer.body }).toEqual({ path, status, body: answer.body });
    return {
      id: (JSON.parse(answer.body) as { id: number | string }).id,
      body: JSON.parse(answer.body) as unknown,
      answer,
    };
  };
  const pet = await post('/v1/pets', { name: 'Plain', categoryId: 5 }, 201);
  expect(pet.answer.headers['location']).toBe(`http://127.0.0.1:${target.port}/v1/pets/${pet.id}`);
  expect(await rows(`${PET} WHERE id = $1`, [pet.id])).toEqual([pet.body]);
  const order = await post('/v1/store/orders', { petId: pet.id }, 201);
  expect(await rows(`${ORDER} WHERE id = $1`, [order.id])).toEqual([order.body]);
  const ended = await post(`/v1/store/orders/${order.id}/${Number(order.id) % 2 ? 'complete' : 'cancel'}`, {}, 200);
  expect(await rows(`${ORDER} WHERE id = $1`, [order.id])).toEqual([ended.body]);
  const message = await post('/v1/messages', { message: 'Plain' }, 202);
  expect(await rows(`${MESSAGE} WHERE id = $1`, [message.id])).toEqual([message.body]);
  return 4;
}

it(
  `gives everybody the normal responses while ${REQUESTS} requests try to change them`,
  async () => {
    const random = new Random(Number(process.env['POISON_SEED'] ?? 1));
    let compared = 0;
    for (let sent = 0; sent < REQUESTS; sent += ROUND) {
      const known = await look();
      const each = Math.ceil(Math.min(ROUND, REQUESTS - sent) / CONNECTIONS);
      await Promise.all(Array.from({ length: CONNECTIONS }, () => attack(random, known, each)));
      compared += await compare(await look());
      if (sent % 100_000 === 0 && sent > 0) console.log(`${sent} requests, ${compared} answers compared`);
    }
    for (const { child, stdout } of replicas) {
      expect(child.exitCode).toBeNull();
      expect(defectsIn(stdout)).toEqual([]);
    }
    if (process.env['POISON_RUNS'] !== undefined) {
      const byStatus = [...counts]
        .sort(([one], [other]) => one - other)
        .map(([status, count]) => `${status}: ${count}`);
      console.log(`${byStatus.join(', ')}; ${compared} plain answers compared; the slowest ${Math.round(slowest)} ms`);
    }
  },
  60_000 + REQUESTS * 10,
);
