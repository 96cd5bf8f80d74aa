import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { folderOf, KEYS, MIGRATE, run, temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROLES, runScript } from '../support/operator-scripts.js';
import { WholePostgres } from '../support/whole-postgres.js';

const bin = folderOf('rehearsal', 'postgresql', 'pg_dump', 'psql', 'initdb', 'postgres');
const whenInstalled = bin === undefined ? describe.skip : describe;

let server: WholePostgres;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: string;
let key: string;
let saved: string;

beforeAll(async () => {
  if (bin === undefined) return;
  [server, folder] = await Promise.all([WholePostgres.start(bin), temporaryFolder()]);
  store = await server.createDatabase();
  await server.ask(store, ROLES);
  await server.ask(store, 'ALTER ROLE store_owner LOGIN; CREATE ROLE rehearser LOGIN CREATEDB');
  const owner = { DATABASE_URL: server.urlOf(store, 'store_owner') };
  await run(MIGRATE, [], owner);
  key = (await run(KEYS, ['create', '--email', 'dev@example.com'], owner)).stdout.trim();
  await server.ask(
    store,
    `INSERT INTO animals (name, category_id, status) SELECT 'Luna ' || n, 1, 'available' FROM generate_series(1, 300) n`,
  );
  saved = join(folder.path, 'store.dump');
  expect(await runScript(bin, 'backup.sh', owner, saved)).toMatchObject({ code: 0 });
});

afterAll(async () => {
  if (bin === undefined) return;
  await Promise.all([server.close(), folder.remove()]);
});

whenInstalled('rehearse.sh', () => {
  it('restores, counts and serves a backup as a role that may only create databases, and leaves no database and no process', async () => {
    const { code, stdout, stderr } = await rehearse(saved, { API_KEY: key });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^public\.animals 300$/m);
    expect(stdout).toMatch(/^public\.api_keys 1$/m);
    expect(stdout).toMatch(/store\.dump was restored in \d+ s and served after \d+ s\n$/);
    await expectNoRehearsal();
  });

  it('takes the address of each server, as backup.sh does, although the first is gone', async () => {
    const file = join(folder.path, 'after-failover.dump');
    const backup = await runScript(bin, 'backup.sh', { DATABASE_URL: server.urlOfBoth(store, 'store_owner') }, file);
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    const url = server.urlOfBoth('postgres', 'rehearser');
    expect(await rehearse(file, { DATABASE_URL: url, API_KEY: key })).toMatchObject({ code: 0, stderr: '' });
    await expectNoRehearsal();
  });

  it('serves a backup of the version before, whose schema is older', async () => {
    const former = await server.createDatabase('store_owner');
    await runScript(bin, 'restore.sh', { DATABASE_URL: server.urlOf(former, 'store_owner') }, saved);
    await server.ask(former, 'DROP POLICY secrets_of_writers ON secrets');
    await server.ask(former, `DELETE FROM migrations WHERE name = 'ShareSecretsWithWriters1700000064000'`);
    const file = join(folder.path, 'former.dump');
    await runScript(bin, 'backup.sh', { DATABASE_URL: server.urlOf(former) }, file);
    expect(await rehearse(file)).toMatchObject({ code: 0, stderr: '' });
  });

  it('fails where a row of the backup is missing', async () => {
    const programs = join(folder.path, 'programs');
    await mkdir(programs);
    // A backup that tells of one row more than was restored.
    const script = `#!/bin/sh
      case "$*" in *--data-only*) more='/Luna 7\\t/p' ;; esac
      "${bin ?? ''}/pg_restore" "$@" | sed "$more"`;
    await writeFile(join(programs, 'pg_restore'), script, { mode: 0o755 });
    const PATH = [programs, bin, process.env['PATH']].join(delimiter);
    const { code, stderr } = await rehearse(saved, { PATH });
    expect(code).toBe(1);
    expect(stderr).toContain('< public.animals 301\n');
    expect(stderr).toContain('> public.animals 300\n');
    expect(stderr).toContain('the tables have other numbers of rows (>) than the backup (<)');
    await expectNoRehearsal();
  });

  it('fails where a key that is known to be in the backup is not accepted', async () => {
    const { code, stderr } = await rehearse(saved, { API_KEY: 'aas_live_unknown' });
    expect(code).toBe(1);
    expect(stderr).toContain('rehearse.sh: API_KEY is not accepted: {"code":"invalid_api_key"');
    await expectNoRehearsal();
  });

  it('needs a role that may create databases', async () => {
    const { code, stderr } = await rehearse(saved, { DATABASE_URL: server.urlOf('postgres', 'store_owner') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/permission denied to create database\nrehearse.sh: no database can be created there\n$/);
  });
});

function rehearse(file: string, environment = {}) {
  return runScript(bin, 'rehearse.sh', { DATABASE_URL: server.urlOf('postgres', 'rehearser'), ...environment }, file);
}

async function expectNoRehearsal(): Promise<void> {
  const processes = execFileSync('ps', ['axeww', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  expect(processes.filter((each) => /DATABASE_URL=\S*\/rehearsal_/.test(each))).toEqual([]);
  expect(await server.ask('postgres', `SELECT datname FROM pg_database WHERE datname LIKE 'rehearsal%'`)).toEqual([]);
}
