import {
  createDatabase,
  DatabaseGate,
  PgBouncer,
  pgBouncerFor,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { directReads, openDataSource } from '../src/database/data-source.js';
import { retryRead } from '../src/database/database-errors.js';
import { poolOf } from '../src/database/pipelining-pool.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

/** The settings that a connection sends, unless it knows that a pooler refuses them. */
const IGNORED = { ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout,lock_timeout' };

const startPooler = pgBouncerFor('a pooler in transaction mode');

(startPooler ? describe : describe.skip)('a pooler in front of the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  type Options = Parameters<typeof PgBouncer.start>;

  /** Runs `work` with the address of the database behind a new pooler. */
  async function behind(work: (url: string) => Promise<void>, settings?: Options[1], connectQuery?: string) {
    const pooler = await PgBouncer.start(database.url, settings, connectQuery);
    try {
      await work(pooler.urlOf(database.url));
    } finally {
      await pooler.close();
    }
  }

  const open = async (databaseUrl: string, directDatabaseUrl?: string) => {
    const { close } = await openInfrastructure({ databaseUrl, directDatabaseUrl, poolSize: 2 });
    await close();
  };

  const toDirect = ': set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the address of PostgreSQL itself';

  it('that refuses settings of connections is reported with the name of the setting that it needs', () =>
    behind(async (url) => {
      await expect(open(url)).rejects.toThrow(
        /^the database of DATABASE_URL \(127\.0\.0\.1:\d+\/\w+\) can't be used: unsupported startup parameter: \w+: set DATA/,
      );
      await expect(open(url)).rejects.toThrow(toDirect);
    }));

  it('that pools transactions is noticed at the start, also if it ignores those settings', () =>
    behind(async (url) => {
      await expect(open(url)).rejects.toThrow(`can't be used: it leads to a pooler in transaction mode${toDirect}`);
    }, IGNORED));

  it('is noticed while other clients use it, and whether it has one session or many, the last or each in turn', async () => {
    const sizes = ['1', '2', '3', '20'];
    for (const [default_pool_size = '', server_round_robin = ''] of [
      ...sizes.map((size) => [size, '0']),
      ...sizes.map((size) => [size, '1']),
    ]) {
      await behind(
        async (url) => {
          await expect(open(url)).rejects.toThrow('it leads to a pooler in transaction mode: set DATABASE_POOLER');
          let isBusy = true;
          const others = Array.from({ length: 4 }, async () => {
            const client = new pg.Client(url);
            await client.connect();
            while (isBusy) await client.query('SELECT pg_sleep(0.001 * random())');
            await client.end();
          });
          for (let starts = 0; starts < 5; starts += 1)
            await expect(open(url)).rejects.toThrow('it leads to a pooler in transaction mode: set DATABASE_POOLER');
          isBusy = false;
          await Promise.all(others);
        },
        { ...IGNORED, default_pool_size, server_round_robin },
      );
    }
  });

  it('must not be what the direct address leads to', async () => {
    const refusal =
      /^the database of DATABASE_DIRECT_URL .* can't be used: .*: it must be the address of PostgreSQL itself$/;
    await behind((url) => expect(open(url, url)).rejects.toThrow(refusal));
    await behind((url) => expect(open(url, url)).rejects.toThrow(refusal), IGNORED);
  });

  it('is refused if its sessions lack the timeouts, with the statements that set them', async () => {
    await behind(
      (url) =>
        expect(open(url, database.url)).rejects.toThrow(
          /^the database of DATABASE_URL .*: in its sessions idle_in_transaction_session_timeout is 0 and jit is on and plan_cache_mode is auto and statement_timeout is 1501: give them "SET idle_in_transaction_session_timeout = 1500; SET jit = off; SET plan_cache_mode = force_generic_plan; SET statement_timeout = 1500"/,
        ),
      {},
      'SET statement_timeout = 1501',
    );
  });

  it('is refused if it pools single statements', () =>
    behind((url) => expect(open(url, database.url)).rejects.toThrow('DATABASE_URL'), { pool_mode: 'statement' }));

  it('that pools sessions works without the setting', () =>
    behind((url) => open(url), { ...IGNORED, pool_mode: 'session' }));

  /** A data source behind the pooler at `url`, whose reads go directly as long as `gate` is open. */
  async function openBehind(url: string, gate: DatabaseGate) {
    const reads = directReads({ connectionString: gate.url, max: 1 });
    const dataSource = await openDataSource({ connectionString: url, max: 2, directReads: reads });
    const read = (text: string) => poolOf(dataSource).read({ name: text, text, rowMode: 'array' });
    const close = async () => {
      await reads.close();
      await dataSource.destroy();
      gate.shut();
    };
    return { dataSource, read, close };
  }

  it('gets one query at a time from each connection: parts of a second one might reach another session', () =>
    behind(async (url) => {
      const gate = await DatabaseGate.open(database.url);
      gate.shut();
      const { read, close } = await openBehind(url, gate);
      const answered: string[] = [];
      const reading = ['SELECT pg_sleep(0.2)', 'SELECT 1'].map((text) => read(text).then(() => answered.push(text)));
      await Promise.all(reading);
      expect(answered).toEqual(['SELECT 1', 'SELECT pg_sleep(0.2)']);
      await close();
    }));

  it('gets no reads while PostgreSQL itself can be reached, and all of them while it cannot: none fails', () =>
    behind(async (url) => {
      const gate = await DatabaseGate.open(database.url);
      const { read, dataSource, close } = await openBehind(url, gate);
      // Only a session of its own keeps a statement with a name.
      const isDirect = async () => {
        const { rows } = await read('SELECT count(*)::int FROM pg_prepared_statements');
        return rows[0]?.[0] === 1;
      };
      await until(isDirect);
      for (let round = 0; round < 3; round += 1) {
        gate.shut();
        for (let reads = 0; reads < 20; reads += 1) expect(await retryRead(dataSource, isDirect)).toBe(false);
        await gate.reopen();
        await until(isDirect);
      }
      await close();
    }));
});
