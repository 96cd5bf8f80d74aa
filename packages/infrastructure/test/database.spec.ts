import { readFromDatabase } from '../src/database/on-database.js';
import type { Duplex } from 'node:stream';
import { instant, newAnimal } from '@adoption-store/domain';
import {
  ask,
  connectTo,
  createDatabase,
  DatabaseGate,
  EMPTY,
  expectDatabaseErrors,
  nameOf,
  openAnotherPostgres,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { deletePortions } from '../src/database/delete-portions.js';
import { migrate } from '../src/database/migrate.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { inTransaction } from '../src/database/transactions.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { type Database, openDatabase } from './databases.js';

// A trigger of a test refuses to delete rows.
expectDatabaseErrors('P0001');

const ROWS = 4_000;
const END = instant(Date.UTC(2030, 0));
const WAITING = { table: 'waiting', time: 'ends_at' };

it('no client without a pipeline is given a query while it has another', async () => {
  const { prototype } = pg.Client as unknown as { prototype: { query: (...parameters: unknown[]) => unknown } };
  const { query } = prototype;
  const busy = new WeakSet();
  const interruptions: unknown[] = [];
  prototype.query = function (this: object & { readonly pipeline?: boolean }, ...parameters) {
    if (busy.has(this) && this.pipeline !== true) interruptions.push(parameters[0]);
    const answer = query.apply(this, parameters);
    busy.add(this);
    const end = () => busy.delete(this);
    // Only COPY gives a stream instead of a promise.
    if (answer instanceof Promise) answer.then(end, end);
    else (answer as Duplex).once('finish', end);
    return answer;
  };
  const empty = await createDatabase(EMPTY);
  try {
    const { ports, close } = await openInfrastructure({ databaseUrl: empty.url, poolSize: 2 });
    await ports.animalImporter.importAll(
      (async function* () {
        yield await Promise.resolve([{ line: 1, id: undefined, animal: newAnimal({ name: 'Luna', categoryId: 1n }) }]);
      })(),
      () => true,
    );
    expect(await ports.animals.list({ limit: 1 })).toMatchObject([{ name: 'Luna' }]);
    await close();
  } finally {
    prototype.query = query;
    await empty.drop();
  }
  expect(interruptions).toEqual([]);
});

describe('deleting in portions', () => {
  let database: Database;
  let client: pg.Client;
  beforeAll(async () => {
    database = await openDatabase();
    client = await connectTo(database.url);
    await client.query('CREATE TABLE waiting (id integer, ends_at timestamptz) WITH (autovacuum_enabled = off)');
    await client.query('CREATE INDEX waiting_by_end ON waiting (ends_at)');
    await client.query('GRANT SELECT, UPDATE, DELETE ON waiting TO store_serving');
  });
  afterAll(async () => {
    await client.end();
    await database.close();
  });

  const fill = async () => {
    await client.query('TRUNCATE waiting');
    await client.query(`
      INSERT INTO waiting SELECT n, to_timestamp(n / 10.0) FROM generate_series(1, ${ROWS}) AS n ORDER BY random()`);
    await client.query('ANALYZE waiting');
  };
  const left = async () =>
    (await client.query<{ id: number }>('SELECT id FROM waiting ORDER BY id')).rows.map(({ id }) => id);

  it('reads each row about once, also while an old snapshot keeps the deleted ones', async () => {
    await fill();
    const backup = await connectTo(database.url);
    await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await backup.query('SELECT count(*) FROM waiting');
    // PostgreSQL's statistics include a connection after it is closed.
    const dataSource = await openDataSource({ connectionString: database.url, max: 1 }, entitySchemas);
    const read = async () => {
      const [row] = await ask<{ read: string }>(
        database.url,
        `SELECT idx_tup_read AS read FROM pg_stat_user_indexes WHERE indexrelname = 'waiting_by_end'`,
      );
      return Number(row?.read);
    };
    const before = await read();
    expect(await deletePortions(dataSource, WAITING, END)).toBe(ROWS);
    await dataSource.destroy();
    await backup.query('COMMIT');
    await backup.end();
    // PostgreSQL 14 shows the statistics of a closed connection later.
    await until(async () => (await read()) >= before + ROWS);
    const entries = (await read()) - before;
    expect(entries).toBeLessThan(1.5 * ROWS);
  });

  it('deletes all rows of one time, more than a portion has', async () => {
    await client.query('TRUNCATE waiting');
    await client.query('INSERT INTO waiting SELECT n, to_timestamp(7) FROM generate_series(1, 2500) AS n');
    expect(await deletePortions(database.dataSource, WAITING, instant(6_999))).toBe(0);
    expect(await deletePortions(database.dataSource, WAITING, instant(7_000))).toBe(2_500);
    expect(await left()).toEqual([]);
  });

  it('leaves rows that another transaction holds to the next time, and deletes those after them', async () => {
    await fill();
    await client.query('BEGIN');
    await client.query('SELECT FROM waiting WHERE id <= 1500 FOR UPDATE');
    expect(await deletePortions(database.dataSource, WAITING, END)).toBe(ROWS - 1_500);
    await client.query('COMMIT');
    expect(await left()).toHaveLength(1_500);
    expect(await deletePortions(database.dataSource, WAITING, END)).toBe(1_500);
  });

  it('keeps what was deleted before a portion that fails, and deletes the rest the next time', async () => {
    await fill();
    await client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON waiting FOR EACH ROW WHEN (OLD.id = 2500) EXECUTE FUNCTION refuse()`);
    await expect(deletePortions(database.dataSource, WAITING, END)).rejects.toThrow('no');
    expect(await left()).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
    await client.query('DROP TRIGGER refuse ON waiting');
    expect(await deletePortions(database.dataSource, WAITING, END)).toBe(3_000);
  });
});

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

describe('an address that is moved', () => {
  const ANIMAL = `INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'available')`;
  const luna = newAnimal({ name: 'Luna', categoryId: 1n });

  /** Two servers. The address leads to the former primary, until it is moved to the next one. */
  let former: Awaited<ReturnType<typeof openAnotherPostgres>>;
  let next: Awaited<ReturnType<typeof createDatabase>>;
  let address: DatabaseGate;
  const closing: (() => unknown)[] = [];

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
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
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
    const animals = new TypeOrmAnimalRepository(dataSource);
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
    [
      'a prepared statement in a transaction',
      ({ dataSource, animals }: Opened) =>
        inTransaction(dataSource, (_manager, transaction) => animals.add(luna, transaction)),
    ],
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
    const { ports, isReady, read, close } = await openInfrastructure({ databaseUrl: address.url, poolSize: 4 });
    closing.push(close);
    await until(isReady);
    await demote();
    await until(async () => !(await isReady()));
    await until(() => read().dependencies.get('postgresql') === false);
    expect(await succeeds(() => ports.animals.add(luna))).toBe(false);
    address.leadTo(next.url);
    await until(isReady);
    const { id } = await ports.animals.add(luna);
    expect(await ask(next.url, 'SELECT FROM animals WHERE id = $1', [String(id)])).toHaveLength(1);
  });

  it('connections to a server that has vanished are given up', async () => {
    const { animals } = await openInfrastructure({ databaseUrl: address.url, poolSize: 4 }).then(({ ports, close }) => {
      closing.push(close);
      return ports;
    });
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
