import { type Animal, DAY, instant, later, newAnimal, type RecordedAnswer } from '@adoption-store/domain';
import { idempotencyRecordsSuite } from '@adoption-store/domain/testing';
import { ask, connectTo, expectDatabaseErrors, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { EntityManager } from 'typeorm';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { inTransaction } from '../src/database/transactions.js';
import { PostgresIdempotencyRecords } from '../src/idempotency/postgres-idempotency-records.js';
import { type Database, openAccount, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

// Another process holds the key for longer than the wait; an answer can't be stored; the disk is full.
expectDatabaseErrors('55P03', '22021', '53100');

const now = instant(Date.now());

idempotencyRecordsSuite(framework, 'PostgreSQL', openPostgres);

it('undoes work whose answer can’t be stored', async () => {
  const { ports, close } = await openPostgres();
  const accountId = await openAccount(ports);
  const request = { accountId, key: 'one', fingerprint: 'asked', now, expiredUntil: later(now, -DAY) };
  let added: Animal | undefined;
  const asking = ports.idempotency.once(request, async (transaction) => {
    added = await ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n }), transaction);
    return 'no text in PostgreSQL has a \u0000';
  });
  await expect(asking).rejects.toMatchObject({ code: '22021' });
  expect(added && (await ports.animals.findById(added.id))).toBeUndefined();
  expect(await ports.idempotency.once(request, () => Promise.resolve('done'))).toMatchObject({ isReplay: false });
  await close();
});

it('is unavailable if the disk is full when the answer is stored', async () => {
  const { ports, url, close } = await openPostgres();
  const request = { accountId: await openAccount(ports), key: 'one', fingerprint: 'asked', now, expiredUntil: now };
  await ask(
    url,
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END$$;
     CREATE TRIGGER full_disk BEFORE UPDATE ON idempotency_records FOR EACH ROW EXECUTE FUNCTION fail()`,
  );
  const asking = ports.idempotency.once(request, () => Promise.resolve('done'));
  await expect(asking).rejects.toMatchObject({ code: 'service_unavailable' });
  await close();
});

describe('a key that another process has in use', () => {
  let database: Database;
  let records: PostgresIdempotencyRecords;
  let other: pg.Client;
  let request: Parameters<PostgresIdempotencyRecords['once']>[0];
  let keys = 0;

  beforeAll(async () => {
    database = await openDatabase();
    records = new PostgresIdempotencyRecords(database.dataSource);
    other = await connectTo(database.url);
  });
  afterAll(async () => {
    await other.end();
    await database.close();
  });
  beforeEach(async () => {
    const accountId = await openAccount({ accounts: new TypeOrmAccountRepository(database.dataSource) });
    const key = `key ${(keys += 1)}`;
    request = { accountId, key, fingerprint: 'asked', now, expiredUntil: later(now, -DAY) };
  });

  const take = () =>
    other.query(
      `BEGIN; INSERT INTO idempotency_records (account_id, key, fingerprint, answered_at, answer)
       VALUES (${request.accountId}, '${request.key}', 'asked', now(), 'theirs')`,
    );
  /** How many sessions wait for the other process. */
  const waiting = async () =>
    (await other.query('SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid'))
      .rowCount;
  const once = (): Promise<RecordedAnswer> => records.once(request, () => Promise.resolve('ours'));

  it('is refused to each of many callers, of whom one at most has a connection', async () => {
    await take();
    const refused = Promise.all(
      Array.from({ length: 30 }, () => expect(once()).rejects.toMatchObject({ code: 'idempotency_key_in_use' })),
    );

    const counts: number[] = [];
    const over = refused.then(() => true);
    while (!(await Promise.race([over, new Promise<false>((resolve) => setImmediate(resolve, false))])))
      counts.push((await waiting()) ?? 0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
    await other.query('ROLLBACK');
    expect(await once()).toMatchObject({ answer: 'ours', isReplay: false });
  });

  it('has the same answer for a caller, once the other process has committed', async () => {
    await take();
    const asking = once();
    await until(async () => (await waiting()) === 1);
    await other.query('COMMIT');
    expect(await asking).toEqual({ answer: 'theirs', fingerprint: 'asked', isReplay: true });
  });

  it('has a short wait of its own: the work waits for other locks as usual', async () => {
    const lockTimeout = async (manager: EntityManager) =>
      (await manager.query<[{ lock_timeout: string }]>('SHOW lock_timeout'))[0].lock_timeout;
    const recorded = await records.once(request, (within) =>
      inTransaction(database.dataSource, lockTimeout, { within }),
    );
    expect(recorded).toMatchObject({ answer: '0', isReplay: false });
  });
});
