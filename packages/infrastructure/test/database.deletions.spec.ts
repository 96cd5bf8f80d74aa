import { instant } from '@adoption-store/domain';
import { ask, connectTo, expectDatabaseErrors, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openDataSource } from '../src/database/data-source.js';
import { deletePortions } from '../src/database/delete-portions.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { type Database, openDatabase } from './databases.js';

// A trigger of a test refuses to delete rows.
expectDatabaseErrors('P0001');

const ROWS = 4_000;
const END = instant(Date.UTC(2030, 0));
const WAITING = { table: 'waiting', time: 'ends_at' };

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
