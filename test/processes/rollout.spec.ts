import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { MIGRATION_LOCK } from '@adoption-store/infrastructure/testing';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { Balancer } from '../support/balancer.js';

/** Replacements of an instance. More take longer and prove more. */
const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 3);
const LANES = 8;
const PAUSE_MS = 5;

let database: TestDatabase;
let client: pg.Client;
let balancer: Balancer;
let load: Load;
let instances: Running[] = [];

beforeEach(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  balancer = await Balancer.open();
  await Promise.all([startInstance(), startInstance()]);
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];
  const { stdout } = await run(KEYS, ['create', '--email', 'a@example.com', ...plan], { DATABASE_URL: database.url });
  load = new Load(balancer.origin, stdout.trim());
});

afterEach(async () => {
  await load.stop();
  balancer.close();
  await Promise.all(instances.map((instance) => instance.stop()));
  instances = [];
  await client.end();
  await database.drop();
});

function launch(): Running {
  const instance = new Running(API, [], { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1' });
  instances.push(instance);
  return instance;
}

async function originOf(instance: Running): Promise<string> {
  return (await instance.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
}

/** Starts an instance and waits until the balancer sends it requests. */
async function startInstance(): Promise<void> {
  await balancer.add(await originOf(launch()));
}

/** Stops the oldest instance as an orchestrator does. Returns the milliseconds that it took. */
async function endOldest(): Promise<number> {
  const [oldest] = instances;
  if (oldest === undefined) throw new Error('there is no instance');
  const before = performance.now();
  expect(await oldest.stop('SIGTERM')).toMatchObject({ code: 0 });
  const took = performance.now() - before;
  balancer.remove(await originOf(oldest));
  instances = instances.slice(1);
  return took;
}

/** Requests of all kinds. Each lane sends one after the other. */
class Load {
  answered = 0;
  added = 0;
  readonly failures: string[] = [];
  private isOver = false;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly lanes = Array.from({ length: LANES }, (_, lane) => this.run(lane));

  constructor(
    private readonly origin: string,
    private readonly key: string,
  ) {}

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes);
    this.agent.destroy();
  }

  /** Waits for that many more responses. */
  async goesOn(count: number): Promise<void> {
    const goal = this.answered + count;
    while (this.answered < goal) await delay(PAUSE_MS);
  }

  private async run(lane: number): Promise<void> {
    await delay(0);
    for (let turn = lane; !this.isOver; turn += 1) {
      const isPost = turn % 3 === 0;
      const expected = isPost ? 201 : 200;
      const outcome = await this.send(isPost, turn % 4 === 0);
      if (outcome === expected) this.answered += 1;
      else this.failures.push(String(outcome));
      if (outcome === 201) this.added += 1;
      await delay(PAUSE_MS);
    }
  }

  /** The response's status, or the error. */
  private send(isPost: boolean, isFresh: boolean): Promise<number | string> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const body = isPost ? '{"name":"Luna","categoryId":1}' : undefined;
    const options = { method: isPost ? 'POST' : 'GET', headers, agent: isFresh ? (false as const) : this.agent };
    return new Promise((resolve) => {
      const onResponse = (response: IncomingMessage) => {
        let text = '';
        response
          .on('data', (chunk) => (text += String(chunk)))
          .on('error', ({ message }) => {
            resolve(message);
          })
          .on('end', () => {
            const { statusCode = 0 } = response;
            resolve(statusCode < 300 ? statusCode : `${statusCode} ${text}`);
          });
      };
      request(`${this.origin}/v1/pets`, options, onResponse)
        .on('error', ({ message }) => {
          resolve(message);
        })
        .end(body);
    });
  }
}

async function expectNothingLost(): Promise<void> {
  await load.stop();
  expect(load.failures).toEqual([]);
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::integer AS count FROM animals');
  expect(rows).toEqual([{ count: load.added }]);
}

it(
  `${ROLLOUTS} replacements of instances fail no request, and each one ends with 0 within 10 s`,
  async () => {
    const times: number[] = [];
    for (let rollout = 0; rollout < ROLLOUTS; rollout += 1) {
      await startInstance();
      times.push(await endOldest());
    }
    await load.goesOn(100);
    await expectNothingLost();
    const slowest = Math.max(...times);
    expect(slowest).toBeLessThan(10_000);
    if (ROLLOUTS > 3)
      console.log(
        `${ROLLOUTS} replacements: ${load.answered} requests, ${load.added} of them POSTs, ` +
          `${load.failures.length} failed; slowest end ${Math.round(slowest)} ms`,
      );
  },
  30_000 + ROLLOUTS * 15_000,
);

it('an instance continues to serve while a later version migrates the schema, and next to that version', async () => {
  await load.goesOn(100);
  // Does what a later version does at its start: the lock, then a migration.
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const waiting = launch();
  await untilOneWaitsForTheLock();
  await load.goesOn(200);
  await client.query('BEGIN');
  await client.query('ALTER TABLE animals ADD COLUMN nickname text');
  await client.query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'AddNickname9999999999999')`);
  await client.query('COMMIT');
  await load.goesOn(200);
  expect(waiting.stderr).toBe('');
  await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  // An instance of the older version may also be started on the newer schema, as in a rollback.
  await balancer.add(await originOf(waiting));
  await endOldest();
  await load.goesOn(200);
  await expectNothingLost();
});

async function untilOneWaitsForTheLock(): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE query LIKE '%pg_try_advisory_lock(%' AND datname = current_database() AND pid <> pg_backend_pid()`;
  while ((await client.query(waiting)).rowCount === 0) await delay(PAUSE_MS);
}
