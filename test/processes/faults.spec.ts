import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  ask,
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  type Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { addPets, issueKeys } from '../support/faults.js';
import { isSuccess, Load } from '../support/load.js';
import { issueKey, startApi } from '../support/services.js';

// A process that is stopped within a transaction holds the key of a request.
expectDatabaseErrors('55P03');

/** Kills of the API. More kills take longer and prove more. */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 1);
/** Acknowledged writes before each kill. Some more are in progress. */
const WRITES = 100;

let database: TestDatabase;
let client: pg.Client;
let running: Running[] = [];

beforeAll(async () => {
  database = await createDatabase();
  client = await connectTo(database.url);
});

afterEach(async () => {
  await Promise.all(running.map((service) => service.stop('SIGKILL')));
  running = [];
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

async function start() {
  const { service, origin } = await startApi({ DATABASE_URL: database.url });
  running.push(service);
  return { service, origin };
}

describe('SIGKILL of an API under parallel writes', () => {
  it(
    'loses no acknowledged write, and doubles none under an Idempotency-Key',
    async () => {
      let api = await start();
      const keys = await issueKeys({ DATABASE_URL: database.url }, client);
      const pets = await addPets(client, 200 * ROUNDS + 1_000);
      for (let round = 0; round < ROUNDS; round += 1) {
        const load = new Load(api.origin, keys, pets).start({ writers: 12 });
        await load.answered(WRITES, isSuccess);
        await api.service.stop('SIGKILL');
        await load.stop();
        api = await start();
        // A busy machine may refuse one, which is then sent again.
        await until(async () => (await load.retryAt(api.origin)).every(isSuccess));
        expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
      }
    },
    600_000 + ROUNDS * 60_000,
  );
});

describe('SIGSTOP of an API within a transaction', () => {
  it('ends its session and its locks: another process runs the repeated request, which has one effect', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const key = await issueKey({ DATABASE_URL: database.url }, 'stopped@example.com');
    const post = (origin: string) =>
      fetch(`${origin}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
        body: '{"message":"Hello"}',
      });
    // On a connection of its own, because a transaction always sees the same sessions.
    const sessions = async (condition: string) =>
      (await ask(database.url, `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`))
        .length;
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
    expect(await client.query(`SELECT FROM messages WHERE text = 'Hello'`)).toMatchObject({ rowCount: 1 });
  });
});
