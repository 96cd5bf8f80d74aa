import { decidePlacement, instant, type MessageId, newAnimal } from '@adoption-store/domain';
import { addMessage } from '@adoption-store/domain/testing';
import {
  ask,
  connectTo,
  createDatabase,
  openAnotherPostgres,
  PgBouncer,
  pgBouncerFor,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { inTransaction } from '../src/database/transactions.js';
import { closedAfterEach, openAccount, openStore, setStandby } from './databases.js';

const luna = newAnimal({ name: 'Luna', categoryId: 1n });

const startPooler = pgBouncerFor('a pooler in transaction mode');

(startPooler ? describe : describe.skip)('behind a pooler in transaction mode', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let url: string;
  const closing = closedAfterEach();
  beforeAll(async () => {
    database = await createDatabase();
    // Each transaction has another session than the one before.
    pooler = await PgBouncer.start(database.url, { default_pool_size: '3', server_round_robin: '1' });
    url = pooler.urlOf(database.url);
  });
  afterAll(async () => {
    await pooler.close();
    await database.drop();
  });

  async function open(databaseUrl: string, directDatabaseUrl?: string) {
    const { ports, secret } = await openStore(closing, databaseUrl, { directDatabaseUrl, poolSize: 8 });
    return { ...ports, secret };
  }

  it('a process without the setting, or whose direct address leads there, too, doesn’t start, and says so', async () => {
    await expect(open(url)).rejects.toThrow(
      /^the database of DATABASE_URL \(127\.0\.0\.1:\d+\/\w+\) can't be used: unsupported startup parameter: \w+: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the address of PostgreSQL itself$/,
    );
    await expect(open(url, url)).rejects.toThrow(
      /^the database of DATABASE_DIRECT_URL .* can't be used: unsupported startup .*: it must be the address of PostgreSQL itself$/,
    );
  });

  it('reads and writes that arrive together need no session of their own', async () => {
    const { animals } = await open(url, database.url);
    const { id } = await animals.add(luna);
    const both = async () => [await animals.findById(id), await animals.add(luna), await animals.list({ limit: 5 })];
    for (let round = 0; round < 5; round += 1)
      for (const [found] of await Promise.all(Array.from({ length: 20 }, both))) expect(found).toMatchObject({ id });
  });

  it('statements have no names, and the limits of a transaction end with it', async () => {
    const dataSource = await openDataSource({ connectionString: url, max: 2, poolsTransactions: true }, entitySchemas);
    closing.push(() => dataSource.destroy());
    const settings = `SELECT current_setting('statement_timeout') AS statement,
      current_setting('idle_in_transaction_session_timeout') AS idle,
      (SELECT count(*)::int FROM pg_prepared_statements WHERE NOT from_sql AND name <> '') AS names`;
    const limited = () => inTransaction(dataSource, (manager) => manager.query<unknown[]>(settings));
    for (let round = 0; round < 5; round += 1) {
      expect(await limited()).toEqual([{ statement: '1500ms', idle: '1500ms', names: 0 }]);
      const { rows } = await poolOf(dataSource).read({ name: 'named', text: settings, rowMode: 'array' });
      expect(rows).toEqual([['0', '0', 0]]);
    }
  });

  it('a write that waits for a lock is over by the time its caller is told, and has changed nothing', async () => {
    const { accounts, animals, attempts, credentials, messages, orders, secret } = await open(url, database.url);
    const accountId = await openAccount({ accounts });
    const { id: animalId } = await animals.add(luna);
    const createdAt = instant(Date.now());
    const placement = { accountId, animalId, limit: 1 };
    const tables = ['accounts', 'animals', 'attempts', 'messages', 'orders', 'secrets'] as const;
    const count = async () =>
      (await Promise.all(tables.map((table) => ask(database.url, `SELECT FROM ${table}`)))).map(({ length }) => length);
    const before = await count();
    const other = await connectTo(database.url);
    closing.push(() => other.end());
    await other.query(`BEGIN; LOCK TABLE ${tables.join()} IN SHARE MODE`);
    const writes = await Promise.allSettled([
      animals.add(luna),
      addMessage({ messages }, { id: 'msg_waiting' as MessageId, accountId, text: 'Hello', createdAt }),
      orders.place(placement, (state) => decidePlacement(state, placement, createdAt)),
      secret('waiting'),
      credentials.change(accountId, (state) => state && { credentials: { ...state, passwordHash: 'new' } }),
      attempts.count('waiting', () => ({ until: undefined, times: [createdAt], expiresAt: createdAt })),
    ]);
    expect(writes.map(({ status }) => status)).toEqual(writes.map(() => 'rejected'));
    const waiting = `SELECT FROM pg_locks JOIN pg_database ON oid = database
      WHERE datname = current_database() AND NOT granted`;
    await until(async () => (await ask(database.url, waiting)).length === 0);
    await other.query('COMMIT');
    expect(await count()).toEqual(before);
  });

  it('while commits hang, PostgreSQL has no more sessions than the pooler may open, and all goes on afterwards', async () => {
    const server = await openAnotherPostgres('store');
    closing.push(() => server.close());
    const few = await PgBouncer.start(server.url, { default_pool_size: '3' });
    closing.push(() => few.close());
    const ports = await open(few.urlOf(server.url), server.url);
    closing.push(() => setStandby(server.url, ''));
    await ports.animals.add(luna);
    await setStandby(server.url, 'nobody');
    const write = () => Promise.allSettled(Array.from({ length: 6 }, () => openAccount(ports)));
    for (let wave = 0; wave < 3; wave += 1) {
      expect((await write()).map(({ status }) => status)).not.toContain('fulfilled');
      const sessions = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      expect((await ask(server.url, sessions)).length).toBeLessThanOrEqual(3);
    }
    await setStandby(server.url, '');
    await until(async () => (await write()).every(({ status }) => status === 'fulfilled'));
  });
});
