import { join } from 'node:path';
import { API, folderOf, KEYS, MIGRATE, run, Running, WORKER } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Balancer } from '../support/balancer.js';
import { isSuccess, Load, slowest } from '../support/load.js';
import { COMPOSE_ROLES, execute } from '../support/operator-scripts.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('rotation of the password', 'postgresql', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

/** Answers to wait for at each step; more takes longer and proves more. */
const ANSWERS = Number(process.env['ROTATION_ANSWERS'] ?? 300);
const PLAN = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

let server: WholePostgres;
let balancer: Balancer;
let database: string;
const running: Running[] = [];

beforeAll(async () => {
  if (bin === undefined) return;
  server = await WholePostgres.start(bin, 'local all postgres trust\nlocal all all scram-sha-256\n');
  database = await server.createDatabase();
  await givePasswords({ SERVICE_ROLE: 'store_a', SERVICE_PASSWORD: 'first' });
  expect(await run(MIGRATE, [], { DATABASE_URL: server.urlOf(database, 'store_owner', 'owner') })).toMatchObject({
    code: 0,
  });
  balancer = await Balancer.open();
});

afterAll(async () => {
  if (bin === undefined) return;
  balancer.close();
  await Promise.all(running.map((each) => each.stop()));
  await server.close();
});

/** Does what the job `roles` of compose.yaml does. */
async function givePasswords(service: { readonly SERVICE_ROLE: string; readonly SERVICE_PASSWORD: string }) {
  const psql = ['--no-psqlrc', '--quiet', `--file=${COMPOSE_ROLES}`, server.urlOf(database)];
  const done = await execute(join(bin ?? '', 'psql'), psql, { OWNER_PASSWORD: 'owner', ...service });
  expect(done).toEqual({ code: 0, stdout: '', stderr: '' });
}

whenInstalled('the password of the services', () => {
  it('is replaced by that of another role while they serve, and no request fails', async () => {
    const first = server.urlOf(database, 'store_a', 'first');
    const second = server.urlOf(database, 'store_b', 'second');
    const former = [await startApi(first), await startApi(first), await startWorker(first)];
    const { stdout } = await run(KEYS, ['create', '--email', 'dev@example.com', ...PLAN], { DATABASE_URL: first });
    await server.ask(
      database,
      `INSERT INTO animals (name, category_id, status) SELECT 'Luna', 1, 'available' FROM generate_series(1, 20000)`,
    );
    const load = new Load(balancer.origin, { key: stdout.trim(), revoked: '' }, upwards());
    load.start({ readers: 2, writers: 3 });
    await load.answered(ANSWERS);

    await givePasswords({ SERVICE_ROLE: 'store_b', SERVICE_PASSWORD: 'second' });
    for (const { process, origin } of former) {
      await (origin === undefined ? startWorker(second) : startApi(second));
      expect(await process.stop('SIGTERM')).toMatchObject({ code: 0 });
      if (origin !== undefined) balancer.remove(origin);
      await load.answered(ANSWERS);
    }
    expect(await connectionsOf('store_a')).toBe(0);
    await server.ask(database, 'ALTER ROLE store_a NOLOGIN PASSWORD NULL');
    await load.answered(ANSWERS);
    await load.stop();

    expect(load.answers.filter((answer) => !isSuccess(answer))).toEqual([]);
    const client = new pg.Client(server.urlOf(database));
    await client.connect();
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
    await client.end();
    console.info(`${load.answers.length} requests, none failed, the slowest took ${slowest(load.answers)} ms`);
    await expect(login(first)).rejects.toThrow('password authentication failed');
  });
});

interface Service {
  readonly process: Running;
  /** Of one that the balancer sends requests to. */
  readonly origin?: string;
}

async function startApi(DATABASE_URL: string): Promise<Service> {
  const settings = { DATABASE_URL, LOG_LEVEL: 'warn', PORT: '0', HOST: '127.0.0.1', LAME_DUCK: '1s' };
  const process = new Running(API, [], { ...settings, ORDER_LIMIT: '100000' });
  running.push(process);
  const origin = (await process.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
  await balancer.add(origin);
  return { process, origin };
}

async function startWorker(DATABASE_URL: string): Promise<Service> {
  const process = new Running(WORKER, [], { DATABASE_URL, LOG_LEVEL: 'warn', WORKER_PORT: '0' });
  running.push(process);
  await process.prints(/^The worker is ready/m);
  return { process };
}

async function connectionsOf(role: string): Promise<number> {
  const query = `SELECT FROM pg_stat_activity WHERE usename = '${role}'`;
  return (await server.ask(database, query)).length;
}

async function login(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.end();
}

/** The ids of animals that are free. */
function* upwards(): Generator<number> {
  for (let id = 10; ; id += 1) yield id;
}
