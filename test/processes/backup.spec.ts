import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import { bearer, get, petsOf } from '@adoption-store/api/testing/pets-client';
import { request } from '@adoption-store/api/testing/raw-http';
import { addPet, end, orderOf, orderPet, placeOrder } from '@adoption-store/api/testing/store-client';
import {
  ask,
  EMPTY,
  type Finished,
  folderOf,
  MIGRATE,
  run as runProgram,
  Running,
  temporaryFolder,
  until,
} from '@adoption-store/test-support';
import { addPets, expectBoundedAnswers, expectNoFailure, issueKeys, startService } from '../support/faults.js';
import { isSuccess, Load } from '../support/load.js';
import { execute, runScript } from '../support/operator-scripts.js';
import { migrationsOf, revertTo } from '../support/pending-migrations.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup and restore', 'postgresql', 'pg_dump', 'pg_restore', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

/** The migration after this one locks a table. */
const BEFORE_A_LOCK = 1_700_000_074_000;
/** A migration that builds an index, so it waits for the end of older transactions. */
const INDEX = 'IndexCategories1700000071100';
/** More than a pipe holds, so that pg_dump can't end before its output is read. */
const ROWS = 20_000;
/** Answers before and after each step. */
const SOME = 100;

/** Runs pg_dump, but reads its output only after the file RELEASED exists. Until then pg_dump keeps its locks. */
const SLOW_PG_DUMP = `#!/usr/bin/env bash
set -o pipefail
for each; do
  case $each in --file=*) file=\${each#--file=} ;; *) rest+=("$each") ;; esac
done
"$REAL/pg_dump" "\${rest[@]}" | { until [ -e "$RELEASED" ]; do sleep 0.1; done; cat >"$file"; }
`;

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
  it('has the same tables, indexes, triggers, rows and sequence positions', async () => {
    const database = await restored(saved);
    // These are written once a second, so perhaps after the backup.
    const exceptions = ['request_counts', 'usage_by_day', 'usage_by_hour'];
    expect(await emptyServer.contentsOf(database, exceptions)).toEqual(
      await server.contentsOf(nameOf(api.databaseUrl), exceptions),
    );
    expect(await schemaOf(emptyServer.urlOf(database))).toBe(await schemaOf(api.databaseUrl));
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

whenInstalled('no request fails,', () => {
  let services: readonly Awaited<ReturnType<typeof startService>>[] = [];
  let client: pg.Client;
  let url: string;

  beforeAll(async () => {
    await mkdir(join(folder.path, 'slow'));
    await writeFile(join(folder.path, 'slow/pg_dump'), SLOW_PG_DUMP, { mode: 0o755 });
    url = server.urlOf(await server.createDatabase());
    const settings = { DATABASE_URL: url };
    await runProgram(MIGRATE, [], settings);
    services = await Promise.all([startService(settings), startService(settings)]);
    client = new pg.Client(url);
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await Promise.all(services.map(({ service }) => service.stop()));
  });

  const isThere = async (text: string) => (await ask(url, text)).length > 0;
  const isDumping = () =>
    isThere(`SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
      WHERE application_name = 'pg_dump' AND relation = 'messages'::regclass`);
  const isWaitingToIndex = () =>
    isThere(`SELECT FROM pg_stat_activity
      WHERE query ~ '^CREATE INDEX CONCURRENTLY' AND wait_event_type = 'Lock'`);

  /** The services need later migrations, so only this one is reverted. */
  async function dropIndex(): Promise<void> {
    await ask(url, 'DROP INDEX animals_by_category');
    await ask(url, 'DELETE FROM migrations WHERE name = $1', [INDEX]);
  }

  it.each<[string, () => Promise<unknown>, (migrating: Running) => boolean | Promise<boolean>]>([
    [
      'a migration waits to lock a table',
      () => revertTo(BEFORE_A_LOCK, url),
      ({ stderr }: Running) => stderr.includes('perhaps a backup (try 1)'),
    ],
    ['a migration waits to build an index', dropIndex, isWaitingToIndex],
  ])('while a backup runs and %s', async (name, revert, isWaiting) => {
    const complete = await migrationsOf(url);
    const keys = await issueKeys({ DATABASE_URL: url }, client);
    const pets = await addPets(client, ROWS);
    await expectNoFailure(async (time) => {
      await revert();
      const loads = services.map(({ origin }) => new Load(origin, keys, pets).start({ readers: 2, writers: 3 }));
      const goesOn = () => Promise.all(loads.map((load) => load.answered(SOME)));
      const file = join(folder.path, `${name} ${time}.dump`);
      const released = `${file} may go on`;
      try {
        await goesOn();
        const PATH = [join(folder.path, 'slow'), bin, process.env['PATH']].join(delimiter);
        const settings = { DATABASE_URL: url, PATH, REAL: bin ?? '', RELEASED: released };
        const backup = runScript(bin, 'backup.sh', settings, file);
        await until(isDumping);
        const migrating = new Running(MIGRATE, [], { DATABASE_URL: url });
        await until(() => isWaiting(migrating));
        await goesOn();
        expect(await isDumping()).toBe(true);
        expect(migrating.child.exitCode).toBeNull();
        await writeFile(released, '');
        expect(await backup).toMatchObject({ code: 0, stderr: '' });
        expect(await migrating.finished()).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' });
        await goesOn();
      } finally {
        await writeFile(released, '');
        await Promise.all(loads.map((load) => load.stop()));
      }
      for (const { answers } of loads) expectBoundedAnswers(answers);
      expect(await migrationsOf(url)).toEqual(complete);
      const saved = 'SELECT count(*)::integer AS count FROM animals';
      const [counted] = await emptyServer.ask<{ count: number }>(await restored(file), saved);
      expect(counted?.count).toBeGreaterThanOrEqual(ROWS);
      return loads.flatMap(({ answers }) => answers.filter((answer) => !isSuccess(answer)));
    });
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
  const database = await emptyServer.createDatabase();
  expect(await run('restore.sh', emptyServer.urlOf(database), file)).toMatchObject({ code: 0, stderr: '' });
  return database;
}

/** Runs the API on a copy of the database. */
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
  return runScript(bin, script, { DATABASE_URL: url }, ...args);
}
