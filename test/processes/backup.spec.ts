import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import { ask, EMPTY, type Finished, folderOf, temporaryFolder, until } from '@adoption-store/test-support';
import { execute, runScript } from '../support/operator-scripts.js';
import { petsOf, bearer, get } from '@adoption-store/api/testing/pets-client';
import { request } from '@adoption-store/api/testing/raw-http';
import { addPet, end, orderOf, orderPet, placeOrder } from '@adoption-store/api/testing/store-client';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup and restore', 'postgresql', 'pg_dump', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

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
  process.env['TEST_DATABASE_TEMPLATE'] = EMPTY;
  api = await startApi();
  await end(api, 'complete', (await placeOrder(api)).id);
  await end(api, 'cancel', (await placeOrder(api)).id);
  await placeOrder(api);
  for (let count = 0; count < 3; count += 1) await post('/v1/messages', '{"message":"Größe 🐈"}', `message ${count}`);
  // Uses of keys are written up to a second after the requests. The backup is compared with the final state.
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
  it('has the same rows and sequence positions', async () => {
    const database = await restored(saved);
    // These are written once a second, so perhaps after the backup.
    const exceptions = ['request_counts', 'usage_by_day', 'usage_by_hour'];
    expect(await emptyServer.contentsOf(database, exceptions)).toEqual(
      await server.contentsOf(nameOf(api.databaseUrl), exceptions),
    );
    const pets = petsOf(await get(api, '/v1/pets?limit=100'));
    await servedFrom(database, async (again) => {
      expect(petsOf(await get(again, '/v1/pets?limit=100'))).toEqual(pets);
      const next = orderOf(await orderPet(again, await addPet(again)), 201);
      expect(next).toMatchObject({ id: 4, petId: pets.length + 1 });
    });
  });

  it('accepts earlier API keys, and repeats no POST with an Idempotency-Key', async () => {
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

  it('has every write acknowledged before it began, and each order with its animal, while writes continued', async () => {
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

const INFRASTRUCTURE = join(__dirname, '../../packages/infrastructure');

whenInstalled('the contract suite of every port', () => {
  it('pass on a restored database', async () => {
    const database = await restored(saved);
    // The suites count rows, so they get a restored database without rows: tables, indexes, triggers.
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
      // The excluded tests wait for periodic writes.
      '--testNamePattern=^(?!.*records the latest use)',
      'test/.*-repository',
      'test/idempotency',
    ];
    const { stdout } = await execute(process.execPath, args, environment, INFRASTRUCTURE);
    const results = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    expect(results).toMatchObject({
      success: true,
      numFailedTests: 0,
      numFailedTestSuites: 0,
      numRuntimeErrorTestSuites: 0,
    });
    expect(results['numPassedTests']).toBeGreaterThan(100);
  });
});

whenInstalled('backup.sh', () => {
  it('writes a file that only its owner can read, and its SHA-256', async () => {
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    const { stdout } = await execute('sha256sum', ['--check', `${basename(saved)}.sha256`], {}, folder.path);
    expect(stdout).toBe('store.dump: OK\n');
  });

  it('never replaces another backup', async () => {
    const { code, stderr } = await run('backup.sh', api.databaseUrl, saved);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `backup.sh: ${saved} is there already; a backup never replaces another\n`,
    });
  });

  it('leaves no file behind when it fails, and reveals no password', async () => {
    const file = join(folder.path, 'failed.dump');
    const { code, stdout, stderr } = await run('backup.sh', 'postgres://store:s%33cret@127.0.0.1:1/store', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain("the database can't be used, and no backup was written");
    expect(stderr).not.toMatch(/s%33cret|s3cret/);
    await expectNothingOf('failed');
  });

  it("refuses a database that is not the store's", async () => {
    const file = join(folder.path, 'foreign.dump');
    const database = await emptyServer.createDatabase();
    await emptyServer.ask(database, 'CREATE TABLE migrations (id integer); CREATE TABLE accounts (id integer)');
    const { code, stderr } = await run('backup.sh', emptyServer.urlOf(database), file);
    const missing = 'animals, api_keys, orders, messages';
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `backup.sh: this is not the store's database, which has the tables ${missing}; no backup was written\n`,
    });
    await expectNothingOf('foreign');
  });

  it('leaves no file behind when the disk is full, and says so', async () => {
    const file = join(folder.path, 'full.dump');
    // Limits files to 8 blocks of 1,024 bytes.
    const command = `trap '' XFSZ; ulimit -f 8; exec "$0" '${file}'`;
    const script = join(__dirname, '../../docker/backup.sh');
    const environment = { PATH: `${bin ?? ''}:${process.env['PATH'] ?? ''}`, DATABASE_URL: api.databaseUrl };
    const { code, stderr } = await execute('bash', ['-c', command, script], environment);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('File too large') });
    expect(stderr).toMatch(/\nbackup.sh: pg_dump failed, and no backup was written\n$/);
    await expectNothingOf('full');
  });

  it('leaves no file behind when the disk gets full at the end', async () => {
    const file = join(folder.path, 'late.dump');
    const programs = join(folder.path, 'programs');
    await mkdir(programs);
    await writeFile(join(programs, 'sync'), '#!/bin/sh\necho no space >&2\nexit 1\n', { mode: 0o755 });
    const PATH = [programs, bin, process.env['PATH']].join(':');
    const { code, stderr } = await runScript(bin, 'backup.sh', { DATABASE_URL: api.databaseUrl, PATH }, file);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `no space\nbackup.sh: ${file} can't be written, and no backup is left\n`,
    });
    await expectNothingOf('late');
  });

  it.each(['backup.sh', 'restore.sh'])('%s names a missing setting', async (script) => {
    const { code, stderr } = await runScript(bin, script, {}, 'file');
    expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringContaining('DATABASE_URL must name') });
  });
});

async function expectNothingOf(file: string): Promise<void> {
  expect((await readdir(folder.path)).filter((name) => name.startsWith(file))).toEqual([]);
}

/** Restores the backup into a new database of the empty server and returns its name. */
async function restored(file: string): Promise<string> {
  const database = await emptyServer.createDatabase();
  expect(await run('restore.sh', emptyServer.urlOf(database), file)).toMatchObject({ code: 0, stderr: '' });
  return database;
}

/** Runs the API on a copy of the database. */
async function servedFrom(database: string, work: (api: TestApi) => Promise<void>): Promise<void> {
  process.env['TEST_POSTGRES_URL'] = emptyServer.urlOf('postgres');
  process.env['TEST_DATABASE_TEMPLATE'] = EMPTY;
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
  return runScript(bin, script, { DATABASE_URL: url }, ...args);
}
