import { readFromDatabase, QUERY_TIMEOUT } from '../src/database/on-database.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Duplex } from 'node:stream';
import { DomainError, instant, newAnimal } from '@adoption-store/domain';
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
import { Batch } from '../src/database/batch.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import type { DelayedWork } from '../src/database/delayed-work.js';
import { deletePortions } from '../src/database/delete-portions.js';
import { migrate } from '../src/database/migrate.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { inTransaction } from '../src/database/transactions.js';
import { portionsOf, writeBehind } from '../src/database/write-behind.js';
import { type DependencyChange, DependencyMonitor } from '../src/kernel/dependency-monitor.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { type Database, openDatabase } from './databases.js';

// A trigger of a test refuses to delete rows.
expectDatabaseErrors('P0001');

/** A batch that runs a single item with the same function as many. */
function batchOf<Result>(run: (items: readonly number[]) => Promise<readonly Result[]>, most?: number) {
  return new Batch<number, Result>(async (item) => (await run([item]))[0] as Result, run, most);
}

/** A batch whose runs are ended by the test. */
function controlled(most?: number) {
  const runs: { readonly items: readonly number[]; end(failure?: Error): void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      runs.push({
        items,
        end: (failure) => {
          if (failure === undefined) resolve(items.map((item) => `answer to ${item}`));
          else reject(failure);
        },
      });
    });
  return { batch: batchOf(run, most), runs };
}

/** A batch waits a turn for more items. */
const settled = async () => {
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
};
const unavailable = () => new DomainError('service_unavailable', 'not now');

describe('a batch', () => {
  beforeAll(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  });
  afterAll(() => {
    jest.useRealTimers();
  });

  it('starts the next run, with all waiting items, only after the previous one; a started run takes no more items', async () => {
    const { batch, runs } = controlled();
    const answers = [1, 2, 3].map((item) => batch.add(item));
    expect(runs).toMatchObject([{ items: [1] }]);
    runs[0]?.end();
    await settled();
    expect(runs).toMatchObject([{ items: [1] }, { items: [2, 3] }]);
    const late = batch.add(4);
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await settled();
    runs[2]?.end();
    expect(await Promise.all([...answers, late])).toEqual([1, 2, 3, 4].map((item) => `answer to ${item}`));
  });

  it('runs items that arrive together again as one batch, until one arrives alone', async () => {
    const { batch, runs } = controlled();
    const answers = [1, 2, 3].map((item) => batch.add(item));
    runs[0]?.end();
    await settled();
    runs[1]?.end();
    await Promise.all(answers);
    void batch.add(4);
    await Promise.resolve();
    void batch.add(5);
    expect(runs).toHaveLength(2);
    await settled();
    expect(runs[2]?.items).toEqual([4, 5]);
    runs[2]?.end();
    await settled();
    void batch.add(6);
    await settled();
    runs[3]?.end();
    await settled();
    void batch.add(7);
    expect(runs.slice(3)).toMatchObject([{ items: [6] }, { items: [7] }]);
  });

  it.each([
    [undefined, 600, [1, 256, 256, 87]],
    [32, 70, [1, 32, 32, 5]],
  ])('with at most %s items runs %d items as %j, in order of arrival', async (most, count, sizes) => {
    const { batch, runs } = controlled(most);
    const answers = Array.from({ length: count }, (_, item) => batch.add(item));
    for (let run = 0; !batch.isIdle; run += 1) {
      runs[run]?.end();
      await settled();
    }
    expect(runs.map(({ items }) => items.length)).toEqual(sizes);
    expect(runs.flatMap(({ items }) => items)).toEqual(Array.from({ length: count }, (_, item) => item));
    expect(await Promise.all(answers)).toHaveLength(count);
  });

  it('fails all of its items, and no others, while the database is down', async () => {
    const { batch, runs } = controlled();
    const first = batch.add(0);
    const failing = Promise.allSettled([batch.add(1), batch.add(2)]);
    runs[0]?.end();
    await settled();
    const next = batch.add(3);
    runs[1]?.end(unavailable());
    expect(await failing).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await settled();
    expect(runs[2]?.items).toEqual([3]);
    runs[2]?.end();
    expect(await Promise.all([first, next])).toEqual(['answer to 0', 'answer to 3']);
  });

  it('fails only the bad item of a batch', async () => {
    const ran: number[][] = [];
    const batch = batchOf<number>(async (items) => {
      ran.push([...items]);
      await settled();
      if (items.includes(2)) throw new Error('2 is bad');
      return items;
    });
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((item) => batch.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(ran).toEqual([[0], [1, 2, 3], [1], [2], [3]]);
  });

  it('fails an item with the error that its run has for it, and no other', async () => {
    const ran: number[][] = [];
    const batch = new Batch<number, number>(
      async (item) => item,
      async (items) => {
        ran.push([...items]);
        return items.map((item) => (item === 2 ? new Error('2 is bad') : item));
      },
    );
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((item) => batch.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(ran).toEqual([[1, 2, 3]]);
  });

  it('refuses an overdue item without running it, also when it runs the items of a failed run one by one', async () => {
    const { batch, runs } = controlled();
    const first = batch.add(0);
    const overdue = [1, 2].map((item) =>
      expect(batch.add(item)).rejects.toMatchObject({ code: 'service_unavailable' }),
    );
    jest.advanceTimersByTime(QUERY_TIMEOUT - 1);
    const intime = Promise.allSettled([batch.add(3), batch.add(4)]);
    jest.advanceTimersByTime(1);
    runs[0]?.end();
    await first;
    await settled();
    await Promise.all(overdue);
    expect(runs.slice(1)).toMatchObject([{ items: [3, 4] }]);
    runs[1]?.end(new Error('3 is bad'));
    await settled();
    expect(runs[2]?.items).toEqual([3]);
    jest.advanceTimersByTime(QUERY_TIMEOUT - 1);
    await settled();
    expect(await intime).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(runs).toHaveLength(3);
  });

  it('answers an item that becomes overdue while the next run is being prepared', async () => {
    const { batch, runs } = controlled();
    const answers = [0, 1, 2, 3].map((item) => batch.add(item));
    // Each call of the clock returns a millisecond more.
    let time = performance.now() + QUERY_TIMEOUT - 3.5;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 1));
    runs[0]?.end();
    await settled();
    now.mockRestore();
    await settled();
    for (const run of runs.slice(1)) run.end();
    jest.advanceTimersByTime(QUERY_TIMEOUT);
    let isSettled = false;
    void Promise.allSettled(answers).then(() => (isSettled = true));
    await settled();
    expect(isSettled).toBe(true);
  });

  it('belongs to the trace of its first caller', async () => {
    const asker = new AsyncLocalStorage<string>();
    const askers: (string | undefined)[] = [];
    const batch = batchOf<number>(async (items) => {
      askers.push(asker.getStore());
      await settled();
      return items;
    });
    const askAll = () =>
      Promise.all(['Ada', 'Ben', 'Cem'].map((name, index) => asker.run(name, () => batch.add(index))));
    const watch = () => undefined;
    // The channel that publishes the start of a query.
    const channel = 'tracing:adoption-store:query:start';
    subscribe(channel, watch);
    await askAll();
    unsubscribe(channel, watch);
    expect(askers).toEqual(['Ada', 'Ben']);
  });
});

describe('a write behind', () => {
  let waiting: number[];
  let written: (readonly number[])[];
  let events: string[];
  /** How many writes succeed. */
  let succeeding: number;
  /** Milliseconds that each write takes. */
  let duration: number;
  /** How many writes have begun. */
  let begun: number;
  let writes: DelayedWork;

  beforeEach(() => {
    jest.useFakeTimers();
    [waiting, written, events, succeeding, duration, begun] = [[], [], [], Infinity, 0, 0];
    writes = writeBehind({
      name: 'Numbers',
      delay: 1_000,
      take: () =>
        portionsOf(waiting.splice(0), 2).map((portion) => ({
          write: async () => {
            begun += 1;
            if (begun > succeeding) throw new Error('away');
            if (duration > 0) await delay(duration);
            written.push(portion);
          },
          restore: () => waiting.push(...portion),
        })),
      onEvent: (event) => events.push(event),
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const add = (...numbers: number[]) => {
    waiting.push(...numbers);
    writes.soon();
  };
  const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const CANT_BE_SAVED = "Numbers can't be saved (away). They wait in memory, and are saved later.";
  const LOST = "Numbers can't be saved (away). The latest ones are lost.";
  const SAVED_AGAIN = 'Numbers are saved again.';

  it('writes the changes of one delay in portions, and nothing without changes', async () => {
    add(1);
    await pass(999);
    add(2, 3);
    expect(written).toEqual([]);
    await pass(60_000);
    expect(written).toEqual([[1, 2], [3]]);
    await writes.now();
    expect(written).toHaveLength(2);
    expect(events).toEqual([]);
  });

  it('repeats what was not written, the oldest first, and logs the first failure and the first success after it', async () => {
    succeeding = 1;
    add(1, 2, 3, 4);
    await pass(1_000);
    expect(written).toEqual([[1, 2]]);
    await pass(5_000);
    add(5);
    expect(events).toEqual([CANT_BE_SAVED]);
    succeeding = Infinity;
    await pass(1_000);
    expect(written).toEqual([[1, 2], [3, 4], [5]]);
    expect(events).toEqual([CANT_BE_SAVED, SAVED_AGAIN]);
    add(6);
    await pass(1_000);
    expect(events).toHaveLength(2);
  });

  it('one write ends before the next begins', async () => {
    duration = 5_000;
    add(1);
    await pass(1_000);
    add(2);
    await pass(4_999);
    expect(begun).toBe(1);
    await pass(1);
    expect(begun).toBe(2);
    await pass(5_000);
    expect(written).toEqual([[1], [2]]);
  });

  it('closing writes the rest, and nothing later', async () => {
    add(1);
    await writes.close();
    expect(written).toEqual([[1]]);
    add(2);
    await pass(5_000);
    expect(written).toHaveLength(1);
  });

  it.each([
    ['a first failure', 0, [LOST]],
    ['a repeated failure', 1_000, [CANT_BE_SAVED, LOST]],
  ])('closing logs what is lost, after %s, and sets no timer', async (_which, before, logged) => {
    succeeding = 0;
    add(1);
    await pass(before);
    await writes.close();
    expect(events).toEqual(logged);
    expect(jest.getTimerCount()).toBe(0);
  });
});

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

describe('the monitor of dependencies', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function monitored() {
    const changes: DependencyChange[] = [];
    const monitor = new DependencyMonitor((change) => changes.push(change));
    return { monitor, changes };
  }

  const REDIS = { dependency: 'redis', name: 'Redis' } as const;
  const LOST = { ...REDIS, state: 'lost', reason: 'connection refused' } as const;
  const BACK = { ...REDIS, state: 'back' } as const;

  it('reports a loss once, with its reason, and the return once, of each dependency apart', () => {
    const { monitor, changes } = monitored();
    monitor.record('redis');
    monitor.record('redis', new Error('connection refused'));
    monitor.record('postgresql');
    expect([...monitor.read()]).toEqual(Object.entries({ redis: false, postgresql: true }));
    monitor.record('redis', new Error('still refused'));
    monitor.record('redis');
    monitor.record('redis');
    expect(changes).toEqual([LOST, BACK]);
  });

  it('reports a loss once more after five seconds, with the latest reason, and one that was over before only once', () => {
    const { monitor, changes } = monitored();
    for (const lasted of [4_999, 5_000]) {
      monitor.record('redis', new Error('connection refused'));
      jest.advanceTimersByTime(lasted - 1);
      monitor.record('redis', new Error('still refused'));
      jest.advanceTimersByTime(1);
      monitor.record('redis');
    }
    jest.advanceTimersByTime(10_000);
    expect(changes).toEqual([LOST, BACK, LOST, { ...REDIS, state: 'still lost', reason: 'still refused' }, BACK]);
  });

  it('asks again after the interval, whether there was an answer or not', async () => {
    const { monitor, changes } = monitored();
    const answers = [true, false, true];
    let asked = 0;
    const ask = async () => {
      asked += 1;
      if (answers.shift() === false) throw new Error('connection refused');
    };
    monitor.poll('redis', ask, { interval: 1_000, timeout: 100 });
    await jest.advanceTimersByTimeAsync(999);
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(1_001);
    expect([asked, changes]).toEqual([3, [LOST, BACK]]);
  });

  it('takes silence for a loss once the timeout is over', async () => {
    const { monitor, changes } = monitored();
    monitor.poll('smtp', () => new Promise(() => undefined), { interval: 1_000, timeout: 500 });
    await jest.advanceTimersByTimeAsync(499);
    expect(changes).toEqual([]);
    await jest.advanceTimersByTimeAsync(2);
    expect(changes.map(({ reason }) => reason)).toEqual(['no answer within 500 ms']);
  });

  it('reports nothing and asks nothing once it is closed', async () => {
    const { monitor, changes } = monitored();
    let asked = 0;
    monitor.poll('redis', () => Promise.reject(new Error(String((asked += 1)))), { interval: 10, timeout: 5 });
    monitor.close();
    await jest.advanceTimersByTimeAsync(100);
    monitor.record('redis', new Error('connection refused'));
    expect([asked, changes, jest.getTimerCount()]).toEqual([1, [], 0]);
  });
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
