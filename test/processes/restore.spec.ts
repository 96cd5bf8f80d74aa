import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderOf, MIGRATE, run as runProgram, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ROLES, runScript } from '../support/operator-scripts.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('restore', 'postgresql', 'pg_dump', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

const PRIVILEGES = `
  SELECT relname AS name, relacl::text AS privileges FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`;
const DEFAULT_PRIVILEGES = `
  SELECT defaclrole::regrole::text AS role, defaclacl::text AS privileges FROM pg_default_acl
  WHERE defaclnamespace = 'public'::regnamespace`;

let server: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** A store with two roles, and a third role that may read animals. */
let store: string;
let saved: string;

beforeAll(async () => {
  if (bin === undefined) return;
  [server, folder] = await Promise.all([WholePostgres.start(bin), temporaryFolder()]);
  store = await server.createDatabase();
  await server.ask(store, ROLES);
  await server.ask(store, 'ALTER ROLE store_owner LOGIN; ALTER ROLE store_a LOGIN; CREATE ROLE reader LOGIN');
  expect(await runProgram(MIGRATE, [], { DATABASE_URL: asOwner(store) })).toMatchObject({ code: 0, stderr: '' });
  await server.ask(store, `INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'available')`);
  await server.ask(store, `INSERT INTO secrets (name) VALUES ('portal')`);
  await server.ask(store, 'GRANT SELECT (id, name) ON animals TO reader');
  saved = join(folder.path, 'store.dump');
  expect(await backup(store, saved)).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  if (bin === undefined) return;
  await Promise.all([server.close(), folder.remove()]);
});

whenInstalled('restore.sh', () => {
  it('restores as a role that only owns the tables, in a superuser’s database and schema', async () => {
    const database = await prepared();
    await server.ask(database, 'ALTER SCHEMA public OWNER TO postgres');
    expect(await restore(database, saved)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.contentsOf(database)).toEqual(await server.contentsOf(store));
    const owners = `SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = 'public'`;
    expect(await server.ask(database, owners)).toEqual([{ owner: 'store_owner' }]);
    // The next start has nothing to change.
    expect(await runProgram(MIGRATE, [], { DATABASE_URL: server.urlOf(database, 'store_a') })).toMatchObject({
      code: 0,
    });
  });

  it('keeps grants, for later tables too', async () => {
    const database = await prepared();
    expect(await restore(database, saved)).toMatchObject({ code: 0 });
    expect(await server.ask(database, PRIVILEGES)).toEqual(await server.ask(store, PRIVILEGES));
    expect(await server.ask(database, DEFAULT_PRIVILEGES)).toEqual(await server.ask(store, DEFAULT_PRIVILEGES));
    expect(await askAs('reader', database, 'SELECT name FROM animals')).toEqual([{ name: 'Luna' }]);
    await expect(askAs('reader', database, 'SELECT status FROM animals')).rejects.toThrow('permission denied');
    // A database without prepared roles gets the same privileges from the backup.
    const bare = await server.createDatabase('store_owner');
    expect(await restore(bare, saved)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.ask(bare, PRIVILEGES)).toEqual(await server.ask(store, PRIVILEGES));
    expect(await server.ask(bare, DEFAULT_PRIVILEGES)).toEqual(await server.ask(store, DEFAULT_PRIVILEGES));
  });

  it('changes nothing if a role with grants is missing, unless grants are left out', async () => {
    const file = join(folder.path, 'unknown-role.dump');
    await server.ask(store, 'CREATE ROLE passing; GRANT SELECT ON orders TO passing');
    expect(await backup(store, file)).toMatchObject({ code: 0 });
    await server.ask(store, 'DROP OWNED BY passing; DROP ROLE passing');
    const database = await server.createDatabase('store_owner');
    const { code, stderr } = await restore(database, file);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /role "passing" does not exist\nrestore.sh: nothing was restored: the database is as it was/,
    );
    expect(await server.contentsOf(database)).toEqual({});
    expect(await restore(database, '--no-grants', file)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.contentsOf(database)).toEqual(await server.contentsOf(store));
    expect(await server.ask(database, `${PRIVILEGES} LIMIT 1`)).toEqual([{ name: 'account_mails', privileges: null }]);
  });

  it('collects statistics of the restored tables only', async () => {
    const database = await prepared();
    await server.ask(database, 'CREATE SCHEMA other; CREATE TABLE other.numbers AS SELECT 1 AS number');
    // A superuser can collect the statistics of every table.
    expect(await runScript(bin, 'restore.sh', { DATABASE_URL: server.urlOf(database) }, saved)).toMatchObject({
      code: 0,
    });
    const analyzed = `SELECT DISTINCT tablename AS name FROM pg_stats WHERE tablename IN ('animals', 'numbers')`;
    expect(await server.ask(database, analyzed)).toEqual([{ name: 'animals' }]);
  });

  it('changes nothing in a database that is not empty, unless it is forced', async () => {
    const database = await prepared();
    expect(await restore(database, saved)).toMatchObject({ code: 0 });
    await askAs(
      'store_owner',
      database,
      'CREATE TABLE later (id serial); DELETE FROM animals; REVOKE SELECT ON orders FROM store_serving',
    );
    await askAs('store_owner', database, 'CREATE VIEW names AS SELECT name FROM animals; CREATE SEQUENCE numbers');
    expect(await restore(database, saved)).toMatchObject({
      code: 1,
      stderr: 'restore.sh: the database is not empty; --force deletes what is in it\n',
    });
    expect(await server.ask(database, 'SELECT FROM animals')).toHaveLength(0);
    expect(await restore(database, '--force', saved)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.contentsOf(database)).toEqual(await server.contentsOf(store));
    expect(await server.ask(database, PRIVILEGES)).toEqual(await server.ask(store, PRIVILEGES));
    expect(await server.ask(database, DEFAULT_PRIVILEGES)).toEqual(await server.ask(store, DEFAULT_PRIVILEGES));
  });

  it('deletes nothing when it is forced and then fails', async () => {
    const database = await prepared();
    expect(await restore(database, saved)).toMatchObject({ code: 0 });
    const before = await server.contentsOf(database);
    // Another role's table can't be deleted.
    await server.ask(database, 'CREATE TABLE kept ()');
    const { code, stderr } = await restore(database, '--force', saved);
    expect(code).toBe(1);
    expect(stderr).toContain('must be owner of table kept');
    await server.ask(database, 'DROP TABLE kept');
    expect(await server.contentsOf(database)).toEqual(before);
  });

  it('does not delete a database that another role uses, not even when it is forced', async () => {
    const database = await prepared();
    expect(await restore(database, saved)).toMatchObject({ code: 0 });
    const client = new pg.Client(server.urlOf(database, 'store_a'));
    await client.connect();
    expect(await restore(database, '--force', saved)).toMatchObject({
      code: 1,
      stderr: 'restore.sh: 1 connections use the database: stop the service first\n',
    });
    await client.end();
  });

  it('refuses a file that has changed', async () => {
    const file = join(folder.path, 'damaged.dump');
    expect(await backup(store, file)).toMatchObject({ code: 0 });
    await appendFile(file, ' ');
    const database = await prepared();
    expect(await restore(database, file)).toMatchObject({
      code: 1,
      stderr: `restore.sh: ${file} is not what backup.sh has written: its SHA-256 differs\n`,
    });
    expect(await server.contentsOf(database)).toEqual({});
  });
});

/** Creates a database with the privileges of the store's roles. */
async function prepared(): Promise<string> {
  const database = await server.createDatabase();
  await server.ask(database, ROLES);
  return database;
}

function asOwner(database: string): string {
  return server.urlOf(database, 'store_owner');
}

async function askAs(role: string, database: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client(server.urlOf(database, role));
  await client.connect();
  try {
    return (await client.query(statement)).rows as readonly unknown[];
  } finally {
    await client.end();
  }
}

function backup(database: string, file: string) {
  return runScript(bin, 'backup.sh', { DATABASE_URL: asOwner(database) }, file);
}

function restore(database: string, ...args: readonly string[]) {
  return runScript(bin, 'restore.sh', { DATABASE_URL: asOwner(database) }, ...args);
}
