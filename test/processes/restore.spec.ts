import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ask,
  createDatabase,
  EMPTY,
  folderOf,
  KEYS,
  MIGRATE,
  run as runProgram,
  Running,
  START,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyIn, Visitor } from '@adoption-store/portal/testing/portal-visitor';
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

describe('roles.sql', () => {
  const ALL = 'store_owner, store_serving, store_a, store_b, store_admin';
  const OWNERS = `
    SELECT tableowner AS owner, count(*)::integer AS tables FROM pg_tables WHERE schemaname = 'public' GROUP BY 1`;
  const NAMES = `SELECT count(*)::integer AS tables FROM pg_tables WHERE schemaname = 'public'`;

  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase(EMPTY);
  });

  afterEach(async () => {
    await database.drop();
    await ask(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE IF EXISTS ${ALL}`);
  });

  it('gives the services a role that can do every operation and change no table', async () => {
    await runAsAdministrator();
    expect(await runProgram(MIGRATE, [], { DATABASE_URL: as('store_owner') })).toMatchObject({ code: 0, stderr: '' });
    const services = new Running(START, [], {
      DATABASE_URL: as('store_a'),
      PORT: '0',
      PORTAL_PORT: '0',
      WORKER_PORT: '0',
      LOG_LEVEL: 'warn',
      CATEGORIES: 'strict',
    });
    try {
      await services.prints(/^The worker is ready/m);
      const created = await runProgram(KEYS, ['create', '--email', 'dev@example.com'], { DATABASE_URL: as('store_a') });
      expect(created).toMatchObject({ code: 0, stderr: '' });
      await callEveryOperation(addressIn(services, /Address {2}(\S+)\/v1/), created.stdout.trim());
      await useThePortal(addressIn(services, /Portal {3}(\S+)/));
    } finally {
      expect(await services.stop()).toMatchObject({ code: 0, stderr: '' });
    }
    expect(services.stdout + services.stderr).not.toMatch(/permission denied|must be owner/);
    await expectNoChangeOfTables();
  });

  it('lets a service start only once the schema is up to date, and names the role that must migrate', async () => {
    await runAsAdministrator();
    const { code, stderr } = await runProgram(MIGRATE, [], { DATABASE_URL: as('store_a') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/its schema is not up to date, .* run migrate as the role that owns it\n$/);
    expect(stderr).not.toContain(' at ');
    await runProgram(MIGRATE, [], { DATABASE_URL: as('store_owner') });
    expect(await runProgram(MIGRATE, [], { DATABASE_URL: as('store_b') })).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes over the tables of a store that had one role, and may run again', async () => {
    expect(await runProgram(MIGRATE, [], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
    await ask(database.url, ROLES);
    await ask(database.url, ROLES);
    expect(await ask(database.url, OWNERS)).toEqual([
      { owner: 'store_owner', ...(await ask<{ tables: number }>(database.url, NAMES))[0] },
    ]);
    await ask(database.url, 'ALTER ROLE store_owner LOGIN; ALTER ROLE store_a LOGIN');
    expect(await runProgram(MIGRATE, [], { DATABASE_URL: as('store_owner') })).toMatchObject({ code: 0 });
    const created = await runProgram(KEYS, ['create', '--email', 'dev@example.com'], { DATABASE_URL: as('store_a') });
    expect(created).toMatchObject({ code: 0, stderr: '' });
    // The function's owner may use the sequence, which the services may not.
    expect(await ask(as('store_a'), 'SELECT next_category_id(0) AS id')).toEqual([{ id: '1' }]);
    await expect(ask(as('store_a'), `SELECT nextval('category_ids')`)).rejects.toThrow('permission denied');
  });

  /** Runs the script as a role that isn't a superuser, and enables the logins. */
  async function runAsAdministrator(): Promise<void> {
    const name = new URL(database.url).pathname.slice(1);
    await ask(database.url, `CREATE ROLE store_admin LOGIN CREATEROLE; ALTER DATABASE ${name} OWNER TO store_admin`);
    await ask(as('store_admin'), ROLES);
    await ask(as('store_admin'), 'ALTER ROLE store_owner LOGIN; ALTER ROLE store_a LOGIN; ALTER ROLE store_b LOGIN');
  }

  function as(role: string): string {
    return database.url.replace('user=postgres', `user=${role}`);
  }

  function addressIn({ stderr }: Running, pattern: RegExp): string {
    return pattern.exec(stderr)?.[1] ?? '';
  }

  async function callEveryOperation(origin: string, key: string): Promise<void> {
    const call = async (method: string, path: string, body?: object) => {
      const authorization = `Bearer ${key}`;
      const sent = body && {
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: JSON.stringify(body),
      };
      const response = await fetch(`${origin}/v1${path}`, { method, headers: { authorization }, ...sent });
      const text = await response.text();
      expect({ call: `${method} ${path}`, text, isOk: response.ok }).toMatchObject({ isOk: true });
      return JSON.parse(text || '{}') as { readonly id: string | number; readonly status: string };
    };
    await call('PUT', '/categories/1', { name: 'Cats' });
    const { id: petId } = await call('POST', '/pets', { name: 'Luna', categoryId: 1 });
    const { id: categoryId } = await call('POST', '/categories', { name: 'Dogs' });
    for (const path of ['/categories', `/categories/${categoryId}`]) await call('GET', path);
    await call('PATCH', `/pets/${petId}`, { categoryId });
    await call('DELETE', '/categories/1');
    for (const path of ['/pets', `/pets?id=${petId}`, `/pets/${petId}`, '/rate_limit']) await call('GET', path);
    const { id: cancelled } = await call('POST', '/store/orders', { petId });
    await call('POST', `/store/orders/${cancelled}/cancel`);
    const { id: completed } = await call('POST', '/store/orders', { petId });
    await call('POST', `/store/orders/${completed}/complete`);
    for (const path of ['/store/orders', `/store/orders/${completed}`]) await call('GET', path);
    await call('DELETE', `/pets/${petId}`);
    const { id } = await call('POST', '/messages', { message: 'Is Luna there?' });
    await until(async () => (await call('GET', `/messages/${id}`)).status === 'sent');
  }

  async function useThePortal(origin: string): Promise<void> {
    const visitor = new Visitor(origin, '');
    const password = 'a fairly long pass phrase';
    await visitor.get('/sign-up');
    expect((await visitor.post('/sign-up', { email: 'person@example.com', password })).status).toBe(303);
    await visitor.get('/keys');
    expect(keyIn(await visitor.post('/keys', { scopes: 'pets:read' }))).not.toBe('');
    for (const path of ['/account', '/usage', '/catalogue', '/categories'])
      expect((await visitor.get(path)).status).toBe(200);
    await visitor.get('/account');
    expect((await visitor.post('/sign-out')).status).toBe(303);
  }

  async function expectNoChangeOfTables(): Promise<void> {
    const statements = [
      'CREATE TABLE more ()',
      'CREATE TEMPORARY TABLE more ()',
      'CREATE SCHEMA more',
      'CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
      'ALTER TABLE animals ADD COLUMN more text',
      'ALTER TABLE api_keys DISABLE TRIGGER api_keys_changed',
      'CREATE INDEX ON animals (name)',
      'TRUNCATE sessions',
      'DROP TABLE messages',
      'DROP POLICY secrets_of_writers ON secrets',
      'SET ROLE store_owner',
    ];
    for (const statement of statements) {
      await expect(ask(as('store_a'), statement)).rejects.toThrow(/permission denied|must be owner/);
    }
  }
});
