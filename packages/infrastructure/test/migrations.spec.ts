import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, EMPTY, type TestDatabase, until } from '@adoption-store/test-support';
import pg from 'pg';
import { migrate, MIGRATION_LOCK, revertMigrations } from '../src/database/migrate.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase(EMPTY);
});
afterEach(() => database.drop());

const CATALOGUE = `
  SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name <> 'migrations' ORDER BY 1, 2`;
const RELATIONS = `
  SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = 'public' AND relname !~ '^PK_|migrations' ORDER BY 1`;

async function query(text: string): Promise<readonly unknown[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

it('brings the schema up, takes all of it back, and brings it up again the same', async () => {
  await migrate({ connectionString: database.url });
  const first = [await query(CATALOGUE), await query(RELATIONS)];
  expect(first[0]).not.toEqual([]);
  await revertMigrations({ connectionString: database.url });
  expect([await query(CATALOGUE), await query(RELATIONS)]).toEqual([[], []]);
  await migrate({ connectionString: database.url });
  expect([await query(CATALOGUE), await query(RELATIONS)]).toEqual(first);
});

it('changes nothing, and loses nothing, when it is run again', async () => {
  await migrate({ connectionString: database.url });
  await query(`INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'sold')`);
  await migrate({ connectionString: database.url });
  expect(await query('SELECT name FROM animals')).toEqual([{ name: 'Luna' }]);
});

it('lets many instances start at once on an empty database', async () => {
  const open = () => openInfrastructure({ databaseUrl: database.url, poolSize: 2 });
  const instances = await Promise.all(Array.from({ length: 8 }, open));
  const lists = await Promise.all(instances.map(({ ports }) => ports.animals.list({ limit: 1 })));
  expect(lists).toEqual(instances.map(() => []));
  await Promise.all(instances.map(({ close }) => close()));
  expect(await query('SELECT count(*)::int AS count FROM (SELECT DISTINCT name FROM migrations) AS names')).toEqual(
    await query('SELECT count(*)::int AS count FROM migrations'),
  );
});

describe('a migration', () => {
  let other: pg.Client;
  let another: pg.Client;
  beforeEach(async () => {
    await migrate({ connectionString: database.url });
    [other, another] = [new pg.Client(database.url), new pg.Client(database.url)];
    await Promise.all([other.connect(), another.connect()]);
  });
  afterEach(() => Promise.all([other.end(), another.end()]));

  it('of a table in use, as by a backup, stops nobody for long, and runs once the table is free', async () => {
    await query(`
      ALTER TABLE messages DROP COLUMN request_id;
      DELETE FROM migrations WHERE name = 'AddMessageRequestId1700000067000'`);
    // pg_dump holds this lock on every table until it ends.
    await other.query('BEGIN; LOCK TABLE messages IN ACCESS SHARE MODE');
    const events: string[] = [];
    const migrating = migrate({ connectionString: database.url }, (message) => events.push(message));
    let longest = 0;
    while (events.length < 2) {
      const begun = performance.now();
      await query('SELECT FROM messages');
      longest = Math.max(longest, performance.now() - begun);
    }
    expect(longest).toBeLessThan(1_400);
    expect(events[0]).toBe('A migration waits for a table that another transaction uses, perhaps a backup (try 1).');
    await other.query('COMMIT');
    await migrating;
    expect(await query('SELECT request_id FROM messages')).toEqual([]);
  });

  it('of two tables in use stops nobody for as long as it waits for both', async () => {
    await revertMigrations({ connectionString: database.url }, 1_700_000_068_000);
    await other.query('BEGIN; LOCK TABLE messages IN ACCESS SHARE MODE');
    await another.query('BEGIN; LOCK TABLE account_mails IN ACCESS SHARE MODE');
    const events: string[] = [];
    const migrating = migrate({ connectionString: database.url }, (message) => events.push(message));
    const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'messages'::regclass`;
    await until(async () => (await query(waiting)).length > 0);
    const begun = performance.now();
    const read = query('SELECT FROM messages').then(() => performance.now() - begun);
    // Almost as long as the migration waits.
    await another.query('SELECT pg_sleep(0.8)');
    await other.query('COMMIT');
    expect(await read).toBeLessThan(1_400);
    await until(() => events.length > 0);
    await another.query('COMMIT');
    await migrating;
  });

  it('that waits for another one lets an index be built CONCURRENTLY meanwhile', async () => {
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const waiting = migrate({ connectionString: database.url });
    const sessions = () =>
      query(`SELECT FROM pg_stat_activity WHERE query ~ 'advisory_lock' AND datname = current_database()`);
    await until(async () => (await sessions()).length > 1);
    await other.query(`SET statement_timeout = 10000`);
    await other.query('CREATE INDEX CONCURRENTLY animals_by_name ON animals (name)');
    await other.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await waiting;
  });

  it('that waits too long for another one is given up with a sentence', async () => {
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await expect(migrate({ connectionString: database.url }, undefined, 0)).rejects.toThrow(
      'another process has been migrating it for 10 minutes, or a pooler has kept the lock of one: try again later',
    );
  });
});
