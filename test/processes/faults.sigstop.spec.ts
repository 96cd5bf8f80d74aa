import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ask, createDatabase, type Running, type TestDatabase, until } from '@adoption-store/test-support';
import { issueKeys, startService } from '../support/faults.js';

/** Milliseconds: the time limit of a transaction that is idle, and time for the server to end it. */
const LONGEST_HOLD = 2_500;

describe('an API process that is stopped by SIGSTOP within a transaction', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let services: Awaited<ReturnType<typeof startService>>[] = [];
  let key = '';
  let frozen: Running | undefined;

  beforeAll(async () => {
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    const settings = { DATABASE_URL: database.url };
    services = await Promise.all([startService(settings), startService(settings)]);
    ({ key } = await issueKeys(settings, client));
  });

  afterAll(async () => {
    frozen?.child.kill('SIGCONT');
    await Promise.all(services.map(({ service }) => service.stop()));
    await client.end();
    await database.drop();
  });

  const post = (origin = '') =>
    fetch(`${origin}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
      body: '{"message":"Hello"}',
    });
  // On a connection of its own, because a transaction always sees the same sessions.
  const sessions = async (condition: string) =>
    (await ask(database.url, `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`))
      .length;

  it('loses its session and its locks: another process runs the repeated request, which has one effect', async () => {
    const [first, second] = services;
    frozen = first?.service;
    await client.query('BEGIN');
    await client.query('LOCK TABLE messages IN EXCLUSIVE MODE');
    const answer = post(first?.origin);
    await until(async () => (await sessions(`wait_event_type = 'Lock'`)) === 1);
    frozen?.child.kill('SIGSTOP');
    await client.query('COMMIT');
    const begun = performance.now();
    await until(async () => (await sessions(`state = 'idle in transaction'`)) === 1);
    expect(await post(second?.origin)).toMatchObject({ status: 409 });
    await until(async () => (await post(second?.origin)).status === 202);
    expect(performance.now() - begun).toBeLessThan(LONGEST_HOLD);
    expect(await sessions(`state = 'idle in transaction'`)).toBe(0);
    frozen?.child.kill('SIGCONT');
    expect((await answer).status).toBe(503);
    expect(await post(first?.origin)).toMatchObject({ status: 202 });
    expect(await client.query('SELECT FROM messages')).toMatchObject({ rowCount: 1 });
  });
});
