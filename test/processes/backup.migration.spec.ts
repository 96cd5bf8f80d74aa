import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ask, folderOf, MIGRATE, run as runProgram, Running, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { AllOperations } from '../support/all-operations.js';
import { issueKeys, startService } from '../support/faults.js';
import { runScript } from '../support/operator-scripts.js';
import { expectNothingFailed, migrationsOf, revertTo } from '../support/pending-migrations.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('backup beside a migration', 'postgresql', 'pg_dump', 'pg_restore', 'initdb', 'postgres');

/** The migration after this one locks a table. */
const BEFORE_A_LOCK = 1_700_000_074_000;
/** A migration that builds an index, so it waits for the end of older transactions. */
const INDEX = 'IndexCategories1700000071100';
/** More than a pipe holds, so that pg_dump can't end before its output is read. */
const ROWS = 20_000;
/** Requests before and after each step. */
const SOME = 100;

/** Runs pg_dump, but reads its output only after the file RELEASED exists. Until then pg_dump keeps its locks. */
const SLOW_PG_DUMP = `#!/usr/bin/env bash
set -o pipefail
for each; do
  case $each in --file=*) file=\${each#--file=} ;; *) rest+=("$each") ;; esac
done
"$REAL/pg_dump" "\${rest[@]}" | { until [ -e "$RELEASED" ]; do sleep 0.1; done; cat >"$file"; }
`;

(bin === undefined ? describe.skip : describe)('no request fails, and each is answered within 2 s,', () => {
  let server: WholePostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let services: readonly Awaited<ReturnType<typeof startService>>[] = [];
  let url: string;
  let key: string;

  beforeAll(async () => {
    [server, folder] = await Promise.all([WholePostgres.start(bin ?? ''), temporaryFolder()]);
    await mkdir(join(folder.path, 'programs'));
    await writeFile(join(folder.path, 'programs/pg_dump'), SLOW_PG_DUMP, { mode: 0o755 });
    url = server.urlOf(await server.createDatabase());
    const settings = { DATABASE_URL: url };
    await runProgram(MIGRATE, [], settings);
    await ask(
      url,
      `INSERT INTO animals (name, category_id, status)
       SELECT gen_random_uuid(), 1, 'sold' FROM generate_series(1, ${ROWS})`,
    );
    services = await Promise.all([startService(settings), startService(settings)]);
    const client = new pg.Client(url);
    await client.connect();
    ({ key } = await issueKeys(settings, client));
    await client.end();
  });

  afterAll(async () => {
    await Promise.all(services.map(({ service }) => service.stop()));
    await Promise.all([server.close(), folder.remove()]);
  });

  const isDumping = async () => {
    const text = `SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
      WHERE application_name = 'pg_dump' AND relation = 'messages'::regclass`;
    return (await ask(url, text)).length > 0;
  };
  const isWaitingToIndex = async () => {
    const text = `SELECT FROM pg_stat_activity WHERE query ~ '^CREATE INDEX CONCURRENTLY' AND wait_event_type = 'Lock'`;
    return (await ask(url, text)).length > 0;
  };

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
    await revert();
    const traffic = new AllOperations(
      services.map(({ origin }) => origin),
      key,
    );
    const released = join(folder.path, `released, ${name}`);
    const file = join(folder.path, `${name}.dump`);
    try {
      await traffic.goesOn(SOME);
      const PATH = [join(folder.path, 'programs'), bin, process.env['PATH']].join(delimiter);
      const settings = { DATABASE_URL: url, PATH, REAL: bin ?? '', RELEASED: released };
      const backup = runScript(bin, 'backup.sh', settings, file);
      await traffic.goesOn(SOME, isDumping);
      const migrating = new Running(MIGRATE, [], { DATABASE_URL: url });
      await traffic.goesOn(SOME, () => isWaiting(migrating));
      await traffic.goesOn(SOME);
      expect(await isDumping()).toBe(true);
      expect(migrating.child.exitCode).toBeNull();
      await writeFile(released, '');
      expect(await backup).toMatchObject({ code: 0, stderr: '' });
      expect(await migrating.finished()).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' });
      await traffic.goesOn(SOME);
    } finally {
      await writeFile(released, '');
      await traffic.stop();
    }
    await expectNothingFailed(traffic);
    expect(await migrationsOf(url)).toEqual(complete);
    const restored = server.urlOf(await server.createDatabase());
    expect(await runScript(bin, 'restore.sh', { DATABASE_URL: restored }, file)).toMatchObject({ code: 0, stderr: '' });
    const [row] = await ask<{ count: number }>(restored, 'SELECT count(*)::integer AS count FROM animals');
    expect(row?.count).toBeGreaterThan(ROWS);
  });
});
