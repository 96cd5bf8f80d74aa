import { appendFile, readdir, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import {
  addPet,
  bearer,
  end,
  get,
  nextPageOf,
  orderOf,
  orderPet,
  petsOf,
  placeOrder,
} from '@adoption-store/api/testing/client';
import { request } from '@adoption-store/api/testing/raw-http';
import {
  ask,
  EMPTY,
  folderOf,
  MIGRATE,
  nameOf,
  OWNER,
  run,
  SERVICES,
  temporaryFolder,
  until,
  withRole,
} from '@adoption-store/test-support';
import { execute, REPAIR, ROLES, runScript, tell } from '../support/operator-scripts.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup and restore', 'postgresql', 'pg_dump', 'pg_restore', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

let server: WholePostgres;
let emptyServer: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: TestApi;
/** The database of the API. */
let served: string;
let saved: string;

beforeAll(async () => {
  if (bin === undefined) return;
  [server, emptyServer, folder] = await Promise.all([
    WholePostgres.start(bin),
    WholePostgres.start(bin),
    temporaryFolder(),
  ]);
  api = await startApiOn(server, await migrated());
  served = nameOf({ url: api.databaseUrl });
  await end(api, 'complete', (await placeOrder(api)).id);
  await end(api, 'cancel', (await placeOrder(api)).id);
  await placeOrder(api);
  for (let count = 0; count < 3; count += 1) await postMessage(api, count);
  // Uses of keys are written up to a second after the requests. The backup is compared with the final state.
  const unused = 'SELECT FROM api_keys WHERE last_used_at IS NULL';
  await until(async () => (await ask(api.databaseUrl, unused)).length === 0);
  saved = join(folder.path, 'store.dump');
  expect(await backup(withRole(OWNER, api.databaseUrl), saved)).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  if (bin === undefined) return;
  await api.close();
  await Promise.all([server.close(), emptyServer.close(), folder.remove()]);
});

whenInstalled('a backup, restored into an empty server,', () => {
  it('has the same tables, indexes, triggers, rows and sequence positions, accepts the keys, and repeats no POST', async () => {
    const database = await restored(saved);
    // These are written once a second, so perhaps after the backup.
    const exceptions = ['request_counts', 'usage_by_day', 'usage_by_hour'];
    expect(await emptyServer.contentsOf(database, exceptions)).toEqual(await server.contentsOf(served, exceptions));
    expect(await schemaOf(emptyServer.urlOf(database))).toBe(await schemaOf(server.urlOf(served)));
    const pets = petsOf(await get(api, '/v1/pets?limit=100'));
    await servedFrom(database, async (again) => {
      expect(petsOf(await get(again, '/v1/pets?limit=100'))).toEqual(pets);
      const next = orderOf(await orderPet(again, await addPet(again)), 201);
      expect(next).toMatchObject({ id: 4, petId: pets.length + 1 });
      const [first, replayed] = [await postMessage(api, 0), await postMessage(again, 0)];
      expect(replayed).toMatchObject({ status: 202, body: first.body });
    });
  });

  it('has every write acknowledged before it began, and each order with its animal, while writes continued', async () => {
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) expect(orderOf(await orderPet(api, await addPet(api)), 201).status).toBe('placed');
    });
    const before = await placeOrder(api);
    const file = join(folder.path, 'busy.dump');
    expect(await backup(withRole(OWNER, api.databaseUrl), file)).toMatchObject({ code: 0 });
    isOver = true;
    await Promise.all(writers);
    const database = await restored(file);
    const torn = `SELECT FROM orders JOIN animals ON animals.id = animal_id
      WHERE (orders.status = 'placed') <> (animals.status = 'pending') AND orders.status = 'placed'`;
    expect(await emptyServer.ask(database, torn)).toEqual([]);
    expect(await emptyServer.ask(database, `SELECT FROM orders WHERE id = ${before.id}`)).toHaveLength(1);
    const later = await server.ask<{ id: string }>(served, 'SELECT id FROM orders');
    const then = await emptyServer.ask<{ id: string }>(database, 'SELECT id FROM orders');
    expect(then.length).toBeLessThan(later.length);
  });

  it('and repaired as backup.md says, refuses the cursors of before by 410', async () => {
    const { pathname, search } = nextPageOf(await get(api, '/v1/events?limit=100')) ?? { pathname: '', search: '' };
    const database = await restored(saved);
    await tell(emptyServer.urlOf(database, OWNER), REPAIR);
    await servedFrom(database, async (again) => {
      expect((await get(again, pathname + search)).status).toBe(410);
    });
  });
});

whenInstalled('backup.sh', () => {
  it('writes a file that only its owner can read, and its SHA-256', async () => {
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    const { stdout } = await execute('sha256sum', ['--check', `${basename(saved)}.sha256`], {}, folder.path);
    expect(stdout).toBe('store.dump: OK\n');
  });

  it('never replaces another backup', async () => {
    const { code, stderr } = await backup(withRole(OWNER, api.databaseUrl), saved);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `backup.sh: ${saved} is there already; a backup never replaces another\n`,
    });
  });

  it('leaves no file behind when it fails, and reveals no password', async () => {
    const file = join(folder.path, 'failed.dump');
    const { code, stdout, stderr } = await backup('postgres://store:s%33cret@127.0.0.1:1/store', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain("the database can't be used, and no backup was written");
    expect(stderr).not.toMatch(/s%33cret|s3cret/);
    await expectNothingOf('failed');
  });

  it.each([
    ['postgres://u:s%33cret@h/d', 'postgres://u@h/d'],
    ['postgres://u:x@h/d?a=b&password=one&password=s%33cret&c=d', 'postgres://u@h/d?a=b&c=d'],
  ])('keeps the password of %s out of the list of processes', async (url, shown) => {
    const script = '. "$0"; use_database "$1"; echo "$url $PGPASSWORD"';
    const file = join(__dirname, '../../docker/database.sh');
    const { stdout } = await execute('bash', ['-c', script, file, url], {});
    expect(stdout.trim()).toBe(`${shown} s3cret`);
  });

  it('leaves no file behind when the disk is full, and says so', async () => {
    const file = join(folder.path, 'full.dump');
    // Limits files to 8 blocks of 1,024 bytes.
    const command = `trap '' XFSZ; ulimit -f 8; exec "$0" '${file}'`;
    const script = join(__dirname, '../../docker/backup.sh');
    const environment = { PATH: [bin, process.env['PATH']].join(delimiter), DATABASE_URL: server.urlOf(served) };
    const { code, stderr } = await execute('bash', ['-c', command, script], environment);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('File too large') });
    expect(stderr).toMatch(/\nbackup.sh: pg_dump failed, and no backup was written\n$/);
    await expectNothingOf('full');
  });
});

whenInstalled('restore.sh', () => {
  const PRIVILEGES = `
    SELECT relname AS name, relacl::text AS privileges FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`;
  const DEFAULT_PRIVILEGES = `
    SELECT defaclrole::regrole::text AS role, defaclacl::text AS privileges FROM pg_default_acl
    WHERE defaclnamespace = 'public'::regnamespace`;

  /** A store with two roles, and a third role that may read animals. */
  let store: string;
  let file: string;

  beforeAll(async () => {
    store = await migrated();
    await server.ask(store, 'CREATE ROLE reader LOGIN');
    await server.ask(store, `INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'available')`);
    await server.ask(store, `INSERT INTO secrets (name) VALUES ('portal')`);
    await server.ask(store, 'GRANT SELECT (id, name) ON animals TO reader');
    file = join(folder.path, 'roles.dump');
    expect(await backup(asOwner(store), file)).toMatchObject({ code: 0, stderr: '' });
  });

  /** Creates one, and restores the store into it. */
  async function restoredStore(): Promise<string> {
    const database = await prepared(server);
    expect(await restore(asOwner(database), file)).toMatchObject({ code: 0, stderr: '' });
    return database;
  }

  async function expectPrivilegesOfStore(database: string): Promise<void> {
    for (const each of [PRIVILEGES, DEFAULT_PRIVILEGES])
      expect(await server.ask(database, each)).toEqual(await server.ask(store, each));
  }

  const asOwner = (database: string) => server.urlOf(database, 'store_owner');
  const askAs = (role: string, database: string, statement: string) => tell(server.urlOf(database, role), statement);

  it('restores as a role that only owns the tables, in a superuser’s database and schema', async () => {
    const database = await prepared(server);
    await server.ask(database, 'ALTER SCHEMA public OWNER TO postgres');
    expect(await restore(asOwner(database), file)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.contentsOf(database)).toEqual(await server.contentsOf(store));
    const owners = `SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE schemaname = 'public'`;
    expect(await server.ask(database, owners)).toEqual([{ owner: 'store_owner' }]);
    // The next start has nothing to change.
    expect(await run(MIGRATE, [], { DATABASE_URL: server.urlOf(database, 'store_a') })).toMatchObject({
      code: 0,
    });
  });

  it('keeps grants, for later tables too', async () => {
    const database = await restoredStore();
    await expectPrivilegesOfStore(database);
    expect(await askAs('reader', database, 'SELECT name FROM animals')).toEqual([{ name: 'Luna' }]);
    await expect(askAs('reader', database, 'SELECT status FROM animals')).rejects.toThrow('permission denied');
    // A database without prepared roles gets the same privileges from the backup.
    const bare = await server.createDatabase('store_owner');
    expect(await restore(asOwner(bare), file)).toMatchObject({ code: 0, stderr: '' });
    await expectPrivilegesOfStore(bare);
  });

  it('changes nothing in a database that is not empty, unless it is forced', async () => {
    const database = await restoredStore();
    await askAs(
      'store_owner',
      database,
      'CREATE TABLE later (id serial); DELETE FROM animals; REVOKE SELECT ON orders FROM store_serving',
    );
    await askAs('store_owner', database, 'CREATE VIEW names AS SELECT name FROM animals; CREATE SEQUENCE numbers');
    expect(await restore(asOwner(database), file)).toMatchObject({
      code: 1,
      stderr: 'restore.sh: the database is not empty; --force deletes what is in it\n',
    });
    expect(await server.ask(database, 'SELECT FROM animals')).toHaveLength(0);
    expect(await restore(asOwner(database), '--force', file)).toMatchObject({ code: 0, stderr: '' });
    expect(await server.contentsOf(database)).toEqual(await server.contentsOf(store));
    await expectPrivilegesOfStore(database);
  });

  it('deletes nothing when it is forced and then fails', async () => {
    const database = await restoredStore();
    const before = await server.contentsOf(database);
    // Another role's table can't be deleted.
    await server.ask(database, 'CREATE TABLE kept ()');
    const { code, stderr } = await restore(asOwner(database), '--force', file);
    expect(code).toBe(1);
    expect(stderr).toContain('must be owner of table kept');
    await server.ask(database, 'DROP TABLE kept');
    expect(await server.contentsOf(database)).toEqual(before);
  });

  it('does not delete a database that another role uses, not even when it is forced', async () => {
    const database = await restoredStore();
    const client = new pg.Client(server.urlOf(database, 'store_a'));
    await client.connect();
    expect(await restore(asOwner(database), '--force', file)).toMatchObject({
      code: 1,
      stderr: 'restore.sh: 1 connections use the database: stop the service first\n',
    });
    await client.end();
  });

  it('refuses a file that has changed', async () => {
    const damaged = join(folder.path, 'damaged.dump');
    expect(await backup(asOwner(store), damaged)).toMatchObject({ code: 0 });
    await appendFile(damaged, ' ');
    const database = await prepared(server);
    expect(await restore(asOwner(database), damaged)).toMatchObject({
      code: 1,
      stderr: `restore.sh: ${damaged} is not what backup.sh has written: its SHA-256 differs\n`,
    });
    expect(await server.contentsOf(database)).toEqual({});
  });
});

async function schemaOf(url: string): Promise<string> {
  const { stdout } = await execute(join(bin ?? '', 'pg_dump'), ['--schema-only', url], {});
  expect(stdout).toContain('CREATE TABLE public.animals');
  // Later versions name the session there.
  return stdout.replace(/^\\.*$/gm, '');
}

async function expectNothingOf(file: string): Promise<void> {
  expect((await readdir(folder.path)).filter((name) => name.startsWith(file))).toEqual([]);
}

/** Restores the backup into a new database of the empty server and returns its name. */
async function restored(file: string): Promise<string> {
  const database = await prepared(emptyServer);
  expect(await restore(emptyServer.urlOf(database, OWNER), file)).toMatchObject({ code: 0, stderr: '' });
  return database;
}

/** Creates a database with the store's roles and their privileges. */
async function prepared(postgres: WholePostgres): Promise<string> {
  const database = await postgres.createDatabase();
  await postgres.ask(database, `${ROLES}; ALTER ROLE ${OWNER} LOGIN; ALTER ROLE ${SERVICES} LOGIN`);
  return database;
}

/** Creates one with the store's tables. */
async function migrated(): Promise<string> {
  const database = await prepared(server);
  const url = server.urlOf(database, OWNER);
  expect(await run(MIGRATE, [], { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
  return database;
}

async function startApiOn(postgres: WholePostgres, template: string): Promise<TestApi> {
  const { TEST_POSTGRES_URL, TEST_DATABASE_TEMPLATE = EMPTY } = process.env;
  Object.assign(process.env, { TEST_POSTGRES_URL: postgres.urlOf('postgres'), TEST_DATABASE_TEMPLATE: template });
  try {
    return await startApi();
  } finally {
    Object.assign(process.env, { TEST_POSTGRES_URL, TEST_DATABASE_TEMPLATE });
  }
}

/** Runs the API on a copy of the database. */
async function servedFrom(database: string, work: (api: TestApi) => Promise<void>): Promise<void> {
  const again = await startApiOn(emptyServer, database);
  await work(again).finally(() => again.close());
}

/** With the key of the first API. */
function postMessage(to: TestApi, count: number) {
  const headers = { ...bearer(api.key), 'Content-Type': 'application/json', 'Idempotency-Key': `message ${count}` };
  return request(to, '/v1/messages', { method: 'POST', headers, body: '{"message":"Größe 🐈"}' });
}

function backup(url: string, file: string) {
  return runScript(bin, 'backup.sh', { DATABASE_URL: url }, file);
}

function restore(url: string, ...args: readonly string[]) {
  return runScript(bin, 'restore.sh', { DATABASE_URL: url }, ...args);
}
