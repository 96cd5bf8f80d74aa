import { appendFile, readdir, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
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
import { apiSettings, ConfigError, readSettings, workerSettings } from '@adoption-store/config';
import type { Api } from '@adoption-store/api/testing/shared-api';
import {
  folderOf,
  MIGRATE,
  OWNER,
  run,
  type Running,
  SERVICES,
  temporaryFolder,
  until,
} from '@adoption-store/test-support';
import { execute, REPAIR, ROLES, runScript, tell } from '../support/operator-scripts.js';
import { issueKey, startApi } from '../support/services.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup and restore', 'postgresql', 'pg_dump', 'pg_restore', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

let server: WholePostgres;
let emptyServer: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: Running;
let api: Api;
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
  served = await migrated();
  const settings = { DATABASE_URL: server.urlOf(served, SERVICES) };
  const { target, origin, ...started } = await startApi(settings);
  service = started.service;
  api = { ...target, origin, key: await issueKey(settings, 'dev@example.com') };
  await end(api, 'complete', (await placeOrder(api)).id);
  await end(api, 'cancel', (await placeOrder(api)).id);
  await placeOrder(api);
  for (let count = 0; count < 3; count += 1) await postMessage(api, count);
  // Uses of keys are written up to a second after the requests. The backup is compared with the final state.
  const unused = 'SELECT FROM api_keys WHERE last_used_at IS NULL';
  await until(async () => (await server.ask(served, unused)).length === 0);
  saved = join(folder.path, 'store.dump');
  expect(await backup(server.urlOf(served, OWNER), saved)).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  if (bin === undefined) return;
  await service.stop();
  await Promise.all([server.close(), emptyServer.close(), folder.remove()]);
});

whenInstalled('a backup, restored into an empty server,', () => {
  it('has the same tables, indexes, triggers, rows and sequence positions, accepts the keys, and repeats no POST', async () => {
    const database = await restored(saved);
    // These are written once a second, so perhaps after the backup.
    const exceptions = ['request_counts', 'usage_by_*'].map((table) => `--exclude-table-data=${table}`);
    const all = await dumpOf(emptyServer.urlOf(database), ...exceptions);
    expect(all).toContain('CREATE TABLE public.animals');
    expect(all).toBe(await dumpOf(server.urlOf(served), ...exceptions));
    const pets = petsOf(await get(api, '/v1/pets?limit=100'));
    await servedFrom(database, async (again) => {
      expect(petsOf(await get(again, '/v1/pets?limit=100'))).toEqual(pets);
      const next = orderOf(await orderPet(again, await addPet(again)), 201);
      expect(next).toMatchObject({ id: 4, petId: pets.length + 1 });
      const [first, replayed] = [await postMessage(api, 0), await postMessage(again, 0)];
      expect(replayed).toMatchObject({ status: 202, body: first.body });
    });
  });

  it('answers a cursor of what is undone 410 by itself, also once as much has happened again', async () => {
    const behind = async (to: Api, query: string) => {
      const { pathname, search } = nextPageOf(await get(to, `/v1/events?${query}`)) ?? { pathname: '', search: '' };
      return pathname + search;
    };
    const database = await restored(saved);
    await addPet(api);
    const undone = await behind(api, 'limit=100');
    await servedFrom(database, async (again) => {
      const start = await behind(again, 'from=now');
      for (let more = 0; more < 3; more += 1) {
        expect((await get(again, undone)).status).toBe(410);
        const id = await addPet(again);
        expect((await get(again, start)).body).toContain(`{"id":${id},`);
      }
      expect((await get(again, undone)).status).toBe(410);
    });
  });

  it('and repaired as backup.md says, gives no id again', async () => {
    const database = await restored(saved);
    await tell(emptyServer.urlOf(database, OWNER), REPAIR);
    const [next] = await emptyServer.ask(database, `SELECT nextval('animals_id_seq')::integer AS id`);
    expect((next as { id: number }).id).toBeGreaterThan(1_000_000);
  });
});

whenInstalled('backup.sh', () => {
  it('writes a file that only its owner can read, and its SHA-256', async () => {
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    const { stdout } = await execute('sha256sum', ['--check', `${basename(saved)}.sha256`], {}, folder.path);
    expect(stdout).toBe('store.dump: OK\n');
  });

  it('never replaces another backup', async () => {
    const { code, stderr } = await backup(server.urlOf(served, OWNER), saved);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `backup.sh: ${saved} is there already; a backup never replaces another\n`,
    });
  });

  it('reveals no password when the database can’t be used', async () => {
    const { code, stdout, stderr } = await backup(
      'postgres://store:s%33cret@127.0.0.1:1/store',
      join(folder.path, 'failed.dump'),
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain("the database can't be used, and no backup was written");
    expect(stderr).not.toMatch(/s%33cret|s3cret/);
  });

  it('that runs beside another one for the same file fails, and leaves the other’s two files alone', async () => {
    const file = join(folder.path, 'twice.dump');
    const url = server.urlOf(served, OWNER);
    const both = await Promise.all([backup(url, file), backup(url, file)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(both.map(({ stderr }) => stderr).join('')).toMatch(
      /^backup.sh: .* is there already; a backup never replaces another$/m,
    );
    const { stdout } = await execute('sha256sum', ['--check', 'twice.dump.sha256'], {}, folder.path);
    expect(stdout).toBe('twice.dump: OK\n');
    const files = (await readdir(folder.path)).filter((name) => name.startsWith('twice'));
    expect(files.sort()).toEqual(['twice.dump', 'twice.dump.sha256']);
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
    expect((await readdir(folder.path)).filter((name) => name.startsWith('full'))).toEqual([]);
  });
});

describe('a password in a URL', () => {
  const SERVICE_URLS = { DATABASE_URL: 'postgres', REDIS_URL: 'redis', SMTP_URL: 'smtps' } as const;
  const RULE = 'must be like .*, with %.. for .* in the password, and so on$';

  /** What the services read. The mail server's other settings are missing. */
  function faultsOf(name: string, url: string): readonly string[] {
    try {
      readSettings({ ...apiSettings, ...workerSettings }, { [name]: url });
      return [];
    } catch (error) {
      return error instanceof ConfigError
        ? error.faults.filter((fault) => fault.startsWith(`${name} `))
        : [String(error)];
    }
  }

  /** What backup.sh and restore.sh read. */
  async function scriptReads(url: string) {
    const script = '. "$0"; use_database "$1"; echo "$url $PGPASSWORD"';
    return execute('bash', ['--norc', '-c', script, join(__dirname, '../../docker/database.sh'), url], {});
  }

  it.each([
    ...[
      ['s%33cret', 's3cret'],
      ['a@b', 'a@b'],
      ['a:b', 'a:b'],
      ['a%40b', 'a@b'],
      ['a%3Ab', 'a:b'],
      ['a%2Fb', 'a/b'],
    ],
    ...[
      ['a%23b', 'a#b'],
      ['a%3fb', 'a?b'],
      ['a%25b', 'a%b'],
      ['a%20b', 'a b'],
      ['a\\b&c', 'a\\b&c'],
    ],
  ])('%s is read as %s by services and scripts, and kept out of the list of processes', async (written, meant) => {
    for (const [name, scheme] of Object.entries(SERVICE_URLS))
      expect(faultsOf(name, `${scheme}://u:${written}@h:1/2`)).toEqual([]);
    const url = `postgres://u:${written}@h:1/2`;
    expect(new pg.Client(url)).toMatchObject({ host: 'h', user: 'u', password: meant });
    expect(await scriptReads(url)).toEqual({ code: 0, stdout: `postgres://u@h:1/2 ${meant}\n`, stderr: '' });
  });

  it.each(['a/b', '1/=b', 'a@b/c', 'a#b', '1#b', 'a?b', '1?b=c', 'a%b', 'a%4', 'a b'])(
    '%s is refused by services and scripts, which show nothing of it and say how to write it',
    async (written) => {
      for (const [name, scheme] of Object.entries(SERVICE_URLS))
        expect(faultsOf(name, `${scheme}://u:${written}@h:1/2`)).toEqual([expect.stringMatching(`^${name} ${RULE}`)]);
      const { code, stdout, stderr } = await scriptReads(`postgres://u:${written}@h:1/2`);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr.trim()).toMatch(new RegExp(`^database.sh: DATABASE_URL ${RULE}`));
    },
  );

  it('behind the host is read or refused likewise', async () => {
    const url = 'postgres://u:x@h/d?a=b&password=one&password=s%33cret&c=d';
    expect(await scriptReads(url)).toMatchObject({ stdout: 'postgres://u@h/d?a=b&c=d s3cret\n' });
    for (const refused of [
      'postgres://u@h/d?password=a#b',
      'postgres://u@h/d?password=a&b',
      'postgres://u@h/d?password=a@b',
      'postgres://u:secret',
    ]) {
      expect(faultsOf('DATABASE_URL', refused)).toEqual([expect.stringMatching(RULE)]);
      expect(await scriptReads(refused)).toMatchObject({ code: 78, stdout: '' });
    }
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
    await server.ask(
      store,
      `INSERT INTO animals (name, name_key, category_id, status) VALUES ('Luna', 'luna', 1, 'available')`,
    );
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

  const dataOf = (database: string) => dumpOf(server.urlOf(database), '--data-only');
  const asOwner = (database: string) => server.urlOf(database, 'store_owner');
  const askAs = (role: string, database: string, statement: string) => tell(server.urlOf(database, role), statement);

  it('restores as a role that only owns the tables, in a superuser’s database and schema', async () => {
    const database = await prepared(server);
    await server.ask(database, 'ALTER SCHEMA public OWNER TO postgres');
    expect(await restore(asOwner(database), file)).toMatchObject({ code: 0, stderr: '' });
    expect(await dataOf(database)).toBe(await dataOf(store));
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
    expect(await dataOf(database)).toBe(await dataOf(store));
    await expectPrivilegesOfStore(database);
  });

  it('deletes nothing when it is forced and then fails', async () => {
    const database = await restoredStore();
    const before = await dataOf(database);
    // Another role's table can't be deleted.
    await server.ask(database, 'CREATE TABLE kept ()');
    const { code, stderr } = await restore(asOwner(database), '--force', file);
    expect(code).toBe(1);
    expect(stderr).toContain('must be owner of table kept');
    await server.ask(database, 'DROP TABLE kept');
    expect(await dataOf(database)).toBe(before);
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
    expect(await dumpOf(server.urlOf(database))).not.toContain('CREATE');
  });
});

/** All that is in a database, and the positions of its sequences. */
async function dumpOf(url: string, ...options: readonly string[]): Promise<string> {
  const { stdout } = await execute(join(bin ?? '', 'pg_dump'), [...options, url], {});
  // Later versions name the session there.
  return stdout.replace(/^\\(?:un)?restrict .*$/gm, '');
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

/** Runs the API on a restored database, with the key of the first API. */
async function servedFrom(database: string, work: (api: Api) => Promise<void>): Promise<void> {
  const { service, target, origin } = await startApi({ DATABASE_URL: emptyServer.urlOf(database, SERVICES) });
  await work({ ...target, origin, key: api.key }).finally(() => service.stop());
}

/** With the key of the first API. */
function postMessage(to: Api, count: number) {
  const headers = { ...bearer(api.key), 'Content-Type': 'application/json', 'Idempotency-Key': `message ${count}` };
  return request(to, '/v1/messages', { method: 'POST', headers, body: '{"message":"Größe 🐈"}' });
}

function backup(url: string, file: string) {
  return runScript(bin, 'backup.sh', { DATABASE_URL: url }, file);
}

/** As backup.md says: `migrate` follows, and revokes what default privileges gave to the services. */
async function restore(url: string, ...args: readonly string[]) {
  const restored = await runScript(bin, 'restore.sh', { DATABASE_URL: url }, ...args);
  if (restored.code === 0) expect(await run(MIGRATE, [], { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
  return restored;
}
