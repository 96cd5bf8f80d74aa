import { execFile } from 'node:child_process';
import { appendFile, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import { ask, type Finished, folderOf, temporaryFolder, until } from '@adoption-store/test-support';
import { petsOf, bearer, get } from '@adoption-store/api/testing/pets-client';
import { request } from '@adoption-store/api/testing/raw-http';
import { addPet, end, orderOf, orderPet, placeOrder } from '@adoption-store/api/testing/store-client';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup and restore', 'postgresql', 'pg_dump', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;
const scripts = join(__dirname, '../../docker');

let server: WholePostgres;
let emptyServer: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: TestApi;
let saved: string;

beforeAll(async () => {
  if (bin === undefined) return;
  [server, emptyServer, folder] = await Promise.all([
    WholePostgres.start(bin),
    WholePostgres.start(bin),
    temporaryFolder(),
  ]);
  process.env['TEST_POSTGRES_URL'] = server.urlOf('postgres');
  api = await startApi();
  await end(api, 'complete', (await placeOrder(api)).id);
  await end(api, 'cancel', (await placeOrder(api)).id);
  await placeOrder(api);
  for (let count = 0; count < 3; count += 1) await post('/v1/messages', '{"message":"Größe 🐈"}', `message ${count}`);
  // Uses of keys are written up to a second after the requests; the backup is compared with what stands in the end.
  await until(
    async () => {
      const unused = await ask(api.databaseUrl, 'SELECT FROM api_keys WHERE last_used_at IS NULL');
      return unused.length === 0;
    },
    { what: 'the use of the key is written' },
  );
  saved = join(folder.path, 'store.dump');
  expect(await run('backup.sh', api.databaseUrl, saved)).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  if (bin === undefined) return;
  await api.close();
  await Promise.all([server.close(), emptyServer.close(), folder.remove()]);
});

whenInstalled('a backup, restored into an empty server,', () => {
  it('has the same rows, and goes on counting where they end', async () => {
    const database = await restored(saved);
    expect(await contentsOf(emptyServer, database)).toEqual(await contentsOf(server, nameOf(api.databaseUrl)));
    const pets = petsOf(await get(api, '/v1/pets?limit=100'));
    await servedFrom(database, async (again) => {
      expect(petsOf(await get(again, '/v1/pets?limit=100'))).toEqual(pets);
      const next = orderOf(await orderPet(again, await addPet(again)), 201);
      expect(next).toMatchObject({ id: 4, petId: pets.length + 1 });
    });
  });

  it('takes the API keys that were issued before, and repeats no POST that had an Idempotency-Key', async () => {
    await servedFrom(await restored(saved), async (again) => {
      const first = await post('/v1/messages', '{"message":"Größe 🐈"}', 'message 0');
      const replayed = await request(again, '/v1/messages', {
        method: 'POST',
        headers: { ...bearer(api.key), 'Content-Type': 'application/json', 'Idempotency-Key': 'message 0' },
        body: '{"message":"Größe 🐈"}',
      });
      expect(replayed).toMatchObject({ status: 202, body: first.body });
    });
  });

  it('has all that was acknowledged before it began, and each order with its animal, though writes went on', async () => {
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) expect(orderOf(await orderPet(api, await addPet(api)), 201).status).toBe('placed');
    });
    const before = await placeOrder(api);
    const file = join(folder.path, 'busy.dump');
    expect(await run('backup.sh', api.databaseUrl, file)).toMatchObject({ code: 0 });
    isOver = true;
    await Promise.all(writers);
    const database = await restored(file);
    const torn = `SELECT FROM orders JOIN animals ON animals.id = animal_id
      WHERE (orders.status = 'placed') <> (animals.status = 'pending') AND orders.status = 'placed'`;
    expect(await emptyServer.ask(database, torn)).toEqual([]);
    expect(await emptyServer.ask(database, `SELECT FROM orders WHERE id = ${before.id}`)).toHaveLength(1);
    const later = await server.ask<{ id: string }>(nameOf(api.databaseUrl), 'SELECT id FROM orders');
    const then = await emptyServer.ask<{ id: string }>(database, 'SELECT id FROM orders');
    expect(then.length).toBeLessThan(later.length);
  });
});

whenInstalled('the contract suite of every port', () => {
  it('passes on a database that was restored', async () => {
    const database = await restored(saved);
    // The suites count what they find, so they get what was restored without its rows: tables, indexes, triggers.
    await emptyServer.ask(
      database,
      `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
        FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'); END $$`,
    );
    const environment = {
      PATH: process.env['PATH'] ?? '',
      TEST_POSTGRES_URL: emptyServer.urlOf('postgres'),
      TEST_DATABASE_TEMPLATE: database,
    };
    const args = [
      join(__dirname, '../../node_modules/jest/bin/jest.js'),
      '--json',
      // They wait for what is written every few seconds.
      '--testNamePattern=^(?!.*records the latest use)',
      'contract/.*-repository',
      'contract/idempotency',
    ];
    const { stdout } = await execute(process.execPath, args, environment, join(__dirname, '..'));
    const results = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    expect(results).toMatchObject({
      success: true,
      numFailedTests: 0,
      numFailedTestSuites: 0,
      numRuntimeErrorTestSuites: 0,
    });
    expect(results['numPassedTests']).toBeGreaterThan(100);
  }, 60_000);
});

whenInstalled('backup.sh', () => {
  it('leaves a file that only its owner may read, and its SHA-256', async () => {
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    const { stdout } = await execute('sha256sum', ['--check', `${basename(saved)}.sha256`], {}, folder.path);
    expect(stdout).toBe('store.dump: OK\n');
  });

  it('replaces no other backup', async () => {
    const { code, stderr } = await run('backup.sh', api.databaseUrl, saved);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `backup.sh: ${saved} is there already; a backup never replaces another\n`,
    });
  });

  it('leaves nothing behind when it fails, and tells no password', async () => {
    const file = join(folder.path, 'failed.dump');
    const { code, stdout, stderr } = await run('backup.sh', 'postgres://store:s%33cret@127.0.0.1:1/store', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('pg_dump failed, and no backup was written');
    expect(stderr).not.toMatch(/s%33cret|s3cret/);
    expect((await readdir(folder.path)).filter((name) => name.startsWith('failed'))).toEqual([]);
  });

  it.each(['backup.sh', 'restore.sh'])('%s says which setting is missing', async (script) => {
    const { code, stderr } = await execute(join(scripts, script), ['file'], { PATH: process.env['PATH'] ?? '' });
    expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringContaining('DATABASE_URL must name') });
  });
});

whenInstalled('restore.sh', () => {
  it('changes nothing in a database that is not empty, unless it is forced', async () => {
    const database = await restored(saved);
    await emptyServer.ask(database, `CREATE TABLE later (); DELETE FROM messages`);
    const url = emptyServer.urlOf(database);
    const refused = await run('restore.sh', url, saved);
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'restore.sh: the database is not empty; --force deletes what is in it\n',
    });
    expect(await emptyServer.ask(database, 'SELECT FROM messages')).toHaveLength(0);
    expect(await run('restore.sh', url, '--force', saved)).toMatchObject({ code: 0, stderr: '' });
    expect(await contentsOf(emptyServer, database)).toEqual(await contentsOf(emptyServer, await restored(saved)));
  });

  it('does not delete a database that is in use, not even when it is forced', async () => {
    const { code, stderr } = await run('restore.sh', api.databaseUrl, '--force', saved);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\d+ connections use the database: stop the service first/);
    expect((await get(api, '/v1/pets')).status).toBe(200);
  });

  it('refuses a file that is not what was written', async () => {
    const file = join(folder.path, 'damaged.dump');
    expect(await run('backup.sh', api.databaseUrl, file)).toMatchObject({ code: 0 });
    await appendFile(file, ' ');
    const database = await createEmpty();
    expect(await run('restore.sh', emptyServer.urlOf(database), file)).toMatchObject({
      code: 1,
      stderr: `restore.sh: ${file} is not what backup.sh has written: its SHA-256 differs\n`,
    });
    expect(await contentsOf(emptyServer, database)).toEqual({});
  });
});

let databases = 0;

async function createEmpty(): Promise<string> {
  const database = `restored_${(databases += 1)}`;
  await emptyServer.ask('postgres', `CREATE DATABASE ${database}`);
  return database;
}

/** The name of a new database of the empty server, with what was saved in it. */
async function restored(file: string): Promise<string> {
  const database = await createEmpty();
  expect(await run('restore.sh', emptyServer.urlOf(database), file)).toMatchObject({ code: 0, stderr: '' });
  return database;
}

/** Every table's rows and every sequence's position. */
async function contentsOf(postgres: WholePostgres, database: string): Promise<Readonly<Record<string, unknown>>> {
  const relations = await postgres.ask<{ name: string }>(
    database,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')`,
  );
  // These are written once a second, and so perhaps after the backup.
  const compared = relations.filter(({ name }) => !['request_counts', 'usage_by_day'].includes(name));
  const contents = compared.map(async ({ name }) => {
    const rows = await postgres.ask<{ text: string }>(database, textOf(name));
    return [name, rows.map(({ text }) => text)] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}

function textOf(relation: string): string {
  return relation.endsWith('_seq')
    ? `SELECT last_value || ' ' || is_called AS text FROM "${relation}"`
    : `SELECT t::text AS text FROM "${relation}" AS t ORDER BY 1`;
}

/** The API on a copy of the database. */
async function servedFrom(database: string, work: (api: TestApi) => Promise<void>): Promise<void> {
  process.env['TEST_POSTGRES_URL'] = emptyServer.urlOf('postgres');
  process.env['TEST_DATABASE_TEMPLATE'] = database;
  const again = await startApi();
  try {
    await work(again);
  } finally {
    await again.close();
    delete process.env['TEST_DATABASE_TEMPLATE'];
  }
}

function post(path: string, body: string, key: string) {
  const headers = { ...bearer(api.key), 'Content-Type': 'application/json', 'Idempotency-Key': key };
  return request(api, path, { method: 'POST', headers, body });
}

function nameOf(url: string): string {
  return /\/([^/?]+)\?/.exec(url)?.[1] ?? '';
}

function run(script: string, url: string, ...args: readonly string[]): Promise<Finished> {
  const PATH = `${bin ?? ''}:${process.env['PATH'] ?? ''}`;
  return execute(join(scripts, script), args, { PATH, DATABASE_URL: url });
}

function execute(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<Finished> {
  return new Promise((resolve) => {
    const env = { ...environment, LC_ALL: 'C' };
    const child = execFile(program, args, { cwd, env, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}
