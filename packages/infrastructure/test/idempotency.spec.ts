import { type Account, DAY, instant, later, newAnimal, plan, type RecordedAnswer } from '@adoption-store/domain';
import { idempotencyRecordsSuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase, until } from '@adoption-store/test-support';
import pg from 'pg';
import { type Infrastructure, openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

idempotencyRecordsSuite(framework, 'PostgreSQL', openPostgres);

/** Shorter than the time limit of database work, after which a caller without a connection is refused. */
const SOON = 1_200;

describe('a key that another process has in use', () => {
  let database: TestDatabase;
  let store: Infrastructure;
  let other: pg.Client;
  let account: Account;
  let key = '';
  const now = instant(Date.now());
  let keys = 0;

  beforeAll(async () => {
    database = await createDatabase();
    store = await openInfrastructure({ databaseUrl: database.url, poolSize: 4 });
    account = await store.ports.accounts.open({
      email: 'ada@example.com',
      plan: plan('free'),
      scopes: undefined,
      createdAt: now,
    });
    other = new pg.Client(database.url);
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await store.close();
    await database.drop();
  });
  beforeEach(() => {
    key = `key ${(keys += 1)}`;
  });

  const take = () =>
    other.query(
      `BEGIN; INSERT INTO idempotency_records (account_id, key, fingerprint, answered_at, answer)
       VALUES (${account.id}, '${key}', 'asked', now(), 'theirs')`,
    );
  const ask = (work = () => Promise.resolve('ours')): Promise<RecordedAnswer> =>
    store.ports.idempotency.once(
      { accountId: account.id, key, fingerprint: 'asked', now, expiredUntil: later(now, -DAY) },
      work,
    );
  const tookOf = async (work: Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await work;
    return performance.now() - begun;
  };

  it('is refused soon to each of many callers, and other requests still get connections', async () => {
    await take();
    const asking = Promise.allSettled(
      Array.from({ length: 30 }, () => tookOf(expect(ask()).rejects.toMatchObject({ code: 'idempotency_key_in_use' }))),
    );
    const bystanders = Array.from({ length: 11 }, () =>
      tookOf(store.ports.orders.list({ accountId: account.id, limit: 1 })),
    );
    await until(() => store.isReady());
    for (const took of await Promise.all(bystanders)) expect(took).toBeLessThan(SOON / 2);
    for (const asked of await asking) {
      expect(asked).toMatchObject({ status: 'fulfilled' });
      if (asked.status === 'fulfilled') expect(asked.value).toBeLessThan(SOON);
    }
    await other.query('ROLLBACK');
    expect(await ask()).toMatchObject({ answer: 'ours', isReplay: false });
  });

  it('has the same answer for a caller, once the other process has committed', async () => {
    await take();
    const asking = ask();
    await until(async () => (await other.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1);
    await other.query('COMMIT');
    expect(await asking).toEqual({ answer: 'theirs', fingerprint: 'asked', isReplay: true });
  });

  it('has a short wait of its own: the work waits for other locks as usual', async () => {
    await other.query('BEGIN; LOCK TABLE animals IN EXCLUSIVE MODE');
    const begun = performance.now();
    const asking = ask(async () => (await store.ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).name);
    await until(() => performance.now() - begun > 600);
    await other.query('COMMIT');
    expect(await asking).toMatchObject({ answer: 'Luna', isReplay: false });
  });
});
