import { type AccountId, type ApiKeyId, newAnimal } from '@adoption-store/domain';
import { ask, createDatabase, DatabaseGate, nameOf, openAnotherPostgres, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { TypeOrmApiKeyRepository } from '../src/accounts/typeorm-api-key-repository.js';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { migrate } from '../src/database/migrate.js';
import { readFromDatabase } from '../src/database/on-database.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { inTransaction } from '../src/database/transactions.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { PostgresCountsStore } from '../src/limits/postgres-counts-store.js';
import { closedAfterEach, openDatabase, openStore } from './databases.js';

it.each([
  [1, 'answered', 2],
  [2, 'answered', 3],
  [3, 'given up', 3],
])('a read that loses its connection %d times in a row is %s', async (losses, outcome, expected) => {
  const dataSource = { driver: { master: { dropUnused: () => undefined } } } as unknown as DataSource;
  const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
  let runs = 0;
  const read = async () => {
    runs += 1;
    if (runs <= losses) throw lost;
    return 'answered';
  };
  const answer = await readFromDatabase(dataSource, read).catch((error: unknown) => error);
  expect(runs).toBe(expected);
  if (outcome === 'answered') expect(answer).toBe(outcome);
  else expect(answer).toMatchObject({ code: 'service_unavailable', cause: lost });
});

it('a transaction that stays idle, as that of a frozen process does, loses its locks and is not committed', async () => {
  const { url, dataSource, close } = await openDatabase();
  const idle = dataSource.createQueryRunner();
  await idle.startTransaction();
  await idle.query('LOCK TABLE animals');
  expect(await ask(url, 'SELECT FROM animals')).toEqual([]);
  await expect(idle.commitTransaction()).rejects.toThrow();
  await idle.release();
  await close();
});

it('a key and its counts are found while others use all connections of the pool', async () => {
  const { dataSource, close } = await openDatabase();
  const pool = poolOf(dataSource);
  const others = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const keys = new TypeOrmApiKeyRepository(dataSource);
  const counts = new PostgresCountsStore(dataSource, () => undefined);
  expect(await Promise.all(['a', 'b', 'c'].map(async (hash) => keys.findByHash(hash)))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const requester = { accountId: 1n as AccountId, keyId: 1n as ApiKeyId };
  expect(await counts.read(requester)).toMatchObject({ usage: { dayUsed: 0 } });
  for (const other of others) other.release();
  await close();
});

describe('an address that is moved', () => {
  const ANIMAL = `INSERT INTO animals (name, name_key, category_id, status) VALUES ('Luna', 'luna', 1, 'available')`;
  const luna = newAnimal({ name: 'Luna', categoryId: 1n });

  /** Two servers. The address leads to the former primary, until it is moved to the next one. */
  let former: Awaited<ReturnType<typeof openAnotherPostgres>>;
  let next: Awaited<ReturnType<typeof createDatabase>>;
  let address: DatabaseGate;
  const closing = closedAfterEach();

  beforeAll(async () => {
    next = await createDatabase();
    former = await openAnotherPostgres(nameOf(next));
    await migrate({ connectionString: former.url });
  });
  beforeEach(async () => {
    await demote(false);
    address = await DatabaseGate.open(former.url);
    closing.push(() => {
      address.shut();
    });
  });
  afterAll(async () => {
    await former.close();
    await next.drop();
  });

  /** Makes the former primary refuse writes, on its present connections too. */
  async function demote(isReadOnly = true): Promise<void> {
    const set = isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
    await ask(former.url, `ALTER SYSTEM ${set}`);
    await ask(former.url, 'SELECT pg_reload_conf()');
    await until(async () => {
      const [row] = await ask<{ state: string }>(
        former.url,
        `SELECT current_setting('transaction_read_only') AS state`,
      );
      return row?.state === (isReadOnly ? 'on' : 'off');
    });
  }

  /** The connections of the services to the former primary. */
  function leftBehind() {
    return ask(former.url, `SELECT pid FROM pg_stat_activity WHERE application_name = 'adoption-store'`);
  }

  async function open(maxLifetimeSeconds?: number) {
    const lifetime = maxLifetimeSeconds === undefined ? {} : { maxLifetimeSeconds };
    const dataSource = await openDataSource({ connectionString: address.url, max: 4, ...lifetime }, entitySchemas);
    const animals = new TypeOrmAnimalRepository(dataSource, 'open');
    let isOver = false;
    // Readers that never pause, so that they keep their connection.
    const readers = Array.from({ length: 3 }, async () => {
      while (!isOver) await animals.list({ limit: 1 });
    });
    closing.push(async () => {
      isOver = true;
      await Promise.all(readers);
      await dataSource.destroy();
    });
    return { dataSource, animals };
  }

  const succeeds = (write: () => Promise<unknown>) =>
    write().then(
      () => true,
      () => false,
    );

  type Opened = Awaited<ReturnType<typeof open>>;

  it.each([
    ['a prepared statement', ({ animals }: Opened) => animals.add(luna)],
    ['TypeORM', ({ dataSource }: Opened) => dataSource.query(ANIMAL)],
    ['a transaction', ({ dataSource }: Opened) => inTransaction(dataSource, (manager) => manager.query(ANIMAL))],
  ])('a refused write by %s retires all connections, so that they follow the address', async (_path, write) => {
    const opened = await open();
    const writes = () => Promise.allSettled(Array.from({ length: 6 }, () => write(opened)));
    expect((await writes()).every(({ status }) => status === 'fulfilled')).toBe(true);
    await demote();
    address.leadTo(next.url);
    const retired = jest.spyOn(poolOf(opened.dataSource), 'retire');
    expect(await succeeds(() => write(opened))).toBe(false);
    // An unused connection would also end by itself, but later.
    expect(retired).toHaveBeenCalled();
    await until(async () => (await leftBehind()).length === 0);
    expect((await writes()).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await ask(next.url, 'SELECT FROM animals')).not.toHaveLength(0);
  });

  it('a process is ready only while its address leads to a primary, which its connections follow without a write', async () => {
    const { ports, isReady, read } = await openStore(closing, address.url);
    await until(isReady);
    await demote();
    await until(() => !isReady());
    await until(() => read().dependencies.get('postgresql') === false);
    expect(await succeeds(() => ports.animals.add(luna))).toBe(false);
    address.leadTo(next.url);
    await until(isReady);
    const { id } = await ports.animals.add(luna);
    expect(await ask(next.url, 'SELECT FROM animals WHERE id = $1', [String(id)])).toHaveLength(1);
  });

  it('connections to a server that has vanished are given up', async () => {
    const { animals } = (await openStore(closing, address.url)).ports;
    await animals.add(luna);
    address.abandon();
    address.leadTo(next.url);
    await until(() => succeeds(() => animals.add(luna)));
  });

  it('a connection has a longest life, even if it is never unused', async () => {
    const { dataSource } = await open(1);
    const text = 'SELECT pg_backend_pid()';
    const reader = async () => String((await poolOf(dataSource).read({ text, rowMode: 'array' })).rows[0]);
    const first = await reader();
    await until(async () => (await reader()) !== first);
  });
});
