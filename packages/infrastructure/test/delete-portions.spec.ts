import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { instant } from '@adoption-store/domain';
import { ask, until } from '@adoption-store/test-support';
import pg from 'pg';
import { openDataSource } from '../src/database/data-source.js';
import { deletePortions } from '../src/database/delete-portions.js';
import { type Database, openDatabase } from './databases.js';

const ROWS = 20_000;
const END = instant(Date.UTC(2030, 0));
const WAITING = { table: 'waiting', time: 'ends_at' };

describe('deleting in portions', () => {
  let database: Database;
  let client: pg.Client;
  beforeAll(async () => {
    database = await openDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    await client.query('CREATE TABLE waiting (id integer, ends_at timestamptz) WITH (autovacuum_enabled = off)');
    await client.query('CREATE INDEX waiting_by_end ON waiting (ends_at)');
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
    const backup = new pg.Client(database.url);
    await backup.connect();
    await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await backup.query('SELECT count(*) FROM waiting');
    // PostgreSQL's statistics include a connection after it is closed.
    const dataSource = await openDataSource({ connectionString: database.url, max: 1 });
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

  it('by two workers at once deletes every row once', async () => {
    await fill();
    const both = [1, 2].map(() => deletePortions(database.dataSource, WAITING, END));
    const [one = 0, other = 0] = await Promise.all(both);
    expect(one + other).toBe(ROWS);
    expect(await left()).toEqual([]);
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
