import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  ask,
  connectTo,
  createDatabase,
  type Environment,
  expectDatabaseErrors,
  type Running,
  temporaryFolder,
  until,
} from '@adoption-store/test-support';
import { addPets, expectBoundedAnswers, issueKeys, startService } from '../support/faults.js';
import { isSuccess, Load } from '../support/load.js';
import { urlOfCluster } from '../support/postgres.js';

// A process that is stopped within a transaction holds the key of a request.
expectDatabaseErrors('55P03');

/** Kills of the API with each database. More kills take longer and prove more. */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 1);
/** Acknowledged writes before each kill. Some more are in progress. */
const WRITES = 100;

let cleanUps: (() => unknown)[] = [];

beforeEach(() => {
  cleanUps = [];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

interface Store {
  readonly settings: Environment;
  readonly url: string;
}

async function external(): Promise<Store> {
  const database = await createDatabase();
  cleanUps.push(() => database.drop());
  return { settings: { DATABASE_URL: database.url }, url: database.url };
}

async function embedded(): Promise<Store & { readonly folder: string }> {
  const folder = await temporaryFolder();
  cleanUps.push(() => folder.remove());
  const { path } = folder;
  return { settings: { DATA_DIR: path }, url: urlOfCluster(path, 'adoption_store'), folder: path };
}

/** Closed before the service, which stops its own database after its last user. */
async function connect(url: string): Promise<pg.Client> {
  const client = await connectTo(url);
  client.on('error', () => undefined);
  cleanUps.push(() => client.end());
  return client;
}

describe('SIGKILL', () => {
  it.each([
    ['a database of its own', embedded],
    ['an external database', external],
  ])(
    'of an API under parallel writes, on %s, loses no acknowledged write, and doubles none under an Idempotency-Key',
    async (_where, openDatabase) => {
      const { settings, url } = await openDatabase();
      let running: Running | undefined;
      const start = async () => {
        const { service, origin } = await startService(settings);
        running = service;
        return origin;
      };
      cleanUps.push(() => running?.stop());
      let origin = await start();
      const client = await connect(url);
      const keys = await issueKeys(settings, client);
      const pets = await addPets(client, 200 * ROUNDS + 1_000);
      for (let round = 0; round < ROUNDS; round += 1) {
        const load = new Load(origin, keys, pets).start({ writers: 12 });
        await load.answered(WRITES, isSuccess);
        await running?.stop('SIGKILL');
        await load.stop();
        origin = await start();
        // A busy machine may refuse one, which is then sent again.
        await until(async () => (await load.retryAt(origin)).every(isSuccess));
        expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
      }
    },
    600_000 + ROUNDS * 60_000,
  );

  it('of its own PostgreSQL: an API restarts it, and loses no acknowledged write', async () => {
    const { settings, url, folder } = await embedded();
    const { service, origin } = await startService(settings);
    cleanUps.push(() => service.stop());
    const client = await connect(url);
    const load = new Load(origin, await issueKeys(settings, client), await addPets(client, 10_000));
    load.start({ readers: 2, writers: 6, strangers: 1 });
    await load.answered(WRITES, isSuccess);
    process.kill(Number.parseInt(await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    await load.answered(1, ({ status }) => status === 503);
    await until(() => ask(url, 'SELECT').then(Boolean, () => false));
    await until(async () => (await load.burst(10)).every(isSuccess));
    await load.answered(WRITES, isSuccess);
    await load.stop();
    expectBoundedAnswers(load.answers);
    expect(await load.losses(await connect(url))).toEqual({ lost: [], doubled: [] });
    expect(service.child.exitCode).toBeNull();
  });
});

describe('SIGSTOP of an API within a transaction', () => {
  it('ends its session and its locks: another process runs the repeated request, which has one effect', async () => {
    const { settings, url } = await external();
    const [first, second] = await Promise.all([startService(settings), startService(settings)]);
    cleanUps.push(() => {
      first.service.child.kill('SIGCONT');
      return Promise.all([first, second].map(({ service }) => service.stop()));
    });
    const client = await connect(url);
    const { key } = await issueKeys(settings, client);
    const post = (origin: string) =>
      fetch(`${origin}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
        body: '{"message":"Hello"}',
      });
    // On a connection of its own, because a transaction always sees the same sessions.
    const sessions = async (condition: string) =>
      (await ask(url, `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`)).length;
    await client.query('BEGIN; LOCK TABLE messages IN EXCLUSIVE MODE');
    const answer = post(first.origin);
    await until(async () => (await sessions(`wait_event_type = 'Lock'`)) === 1);
    first.service.child.kill('SIGSTOP');
    await client.query('COMMIT');
    await until(async () => (await sessions(`state = 'idle in transaction'`)) === 1);
    expect(await post(second.origin)).toMatchObject({ status: 409 });
    await until(async () => (await post(second.origin)).status === 202);
    // Another session may be between two statements at this moment.
    await until(async () => (await sessions(`state = 'idle in transaction'`)) === 0);
    first.service.child.kill('SIGCONT');
    expect((await answer).status).toBe(503);
    expect(await post(first.origin)).toMatchObject({ status: 202 });
    expect(await client.query('SELECT FROM messages')).toMatchObject({ rowCount: 1 });
  });
});
