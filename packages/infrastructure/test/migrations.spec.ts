import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createDatabase, EMPTY, type TestDatabase } from '@adoption-store/test-support';
import pg from 'pg';
import { migrate, revertMigrations } from '../src/database/data-source.js';
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
