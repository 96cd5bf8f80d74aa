import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
import { runPortal } from '@adoption-store/portal/testing/portal-process';
import {
  API,
  ask,
  createDatabase,
  EMPTY,
  freePort,
  KEYS,
  MIGRATE,
  run,
  Running,
  START,
  WORKER,
} from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { processesOf } from '../support/process-list.js';
import { add, ANY_PORTS, keyOf, names, originOf, useStartedServices } from '../support/started-services.js';

const services = useStartedServices();

describe('started with DATABASE_URL', () => {
  it('by npm start, needs no other setting', async () => {
    const database = await createDatabase(EMPTY);
    const settings = { DATABASE_URL: database.url, PORT: '0', PORTAL_PORT: '0', WORKER_PORT: '0' };
    const launcher = services.track(new Running(START, [], settings));
    await launcher.prints(/^The worker is ready/m);
    expect(await launcher.stop()).toMatchObject({ code: 0, stderr: '' });
    await database.drop();
  });

  it('no process reads the stored counts at its start: all start, and the commands run, while these are locked', async () => {
    const database = await createDatabase();
    const settings = { DATABASE_URL: database.url };
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('BEGIN; LOCK TABLE request_counts, key_bans, usage_by_day IN ACCESS EXCLUSIVE MODE');
    const [portal] = await Promise.all([
      runPortal(database.url, {}),
      services.track(new Running(API, [], { ...settings, PORT: '0' })).prints(/Address {2}(\S+)\/v1/),
      services.track(new Running(WORKER, [], { ...settings, WORKER_PORT: '0' })).prints(/^The worker is ready/m),
      run(KEYS, ['create', '--email', 'dev@example.com'], settings).then(({ code }) => {
        expect(code).toBe(0);
      }),
    ]);
    services.track(portal.process);
    await client.end();
  });

  it('portals share sessions without PORTAL_SECRET, and no log or backup role sees the secret', async () => {
    const database = await createDatabase();
    const portals = await Promise.all([1, 2].map(() => runPortal(database.url, { LOG_LEVEL: 'trace' })));
    for (const { process } of portals) services.track(process);
    const [one, other] = portals.map(({ origin }) => origin);
    const form = await fetch(`${one ?? ''}/sign-up`);
    const cookie = form.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const token = /name="_csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
    const signUp = await fetch(`${other ?? ''}/sign-up`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: other ?? '' },
      body: new URLSearchParams({ _csrf: token, email: 'dev@example.com', password: 'a long enough password' }),
    });
    expect(signUp.status).toBe(303);

    const [secret] = await ask<{ value: string }>(database.url, `SELECT value FROM secrets WHERE name = 'portal'`);
    expect(secret?.value.length).toBeGreaterThanOrEqual(64);
    for (const { process } of portals) expect(process.stdout).not.toContain(secret?.value);
    const reader = `reader_${randomBytes(6).toString('hex')}`;
    await ask(database.url, `CREATE ROLE ${reader} IN ROLE pg_read_all_data`);
    const asReader = `${database.url}&options=${encodeURIComponent(`-c role=${reader}`)}`;
    expect(await ask(asReader, 'SELECT count(*)::int AS migrations FROM migrations')).not.toEqual([{ migrations: 0 }]);
    expect(await ask(asReader, 'SELECT value FROM secrets')).toEqual([]);
    await ask(database.url, `DROP ROLE ${reader}`);
    await Promise.all(portals.map(({ process }) => process.stop()));
    await database.drop();
  });

  it('runs completely as a role that only owns its database', async () => {
    const database = await createDatabase(EMPTY);
    const role = `plain_${randomBytes(6).toString('hex')}`;
    const name = new URL(database.url).pathname.slice(1);
    await ask(database.url, `CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS`);
    await ask(database.url, `ALTER DATABASE ${name} OWNER TO ${role}`);
    const url = database.url.replace('user=postgres', `user=${role}`);
    expect(await ask(url, 'SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolname: role, rolsuper: false },
    ]);
    expect(await run(MIGRATE, [], { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
    const launcher = services.track(new Running(START, [], { DATABASE_URL: url, ...ANY_PORTS }));
    await launcher.prints(/^The worker is ready/m);
    const { code, stdout, stderr } = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATABASE_URL: url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const origin = originOf(launcher.stderr);
    await add(origin, stdout.trim(), 'Luna');
    expect(await names(origin, stdout.trim())).toEqual(['Luna']);
    const portal = /Portal {3}(\S+)/.exec(launcher.stderr)?.[1] ?? '';
    expect((await fetch(`${portal}/sign-up`)).status).toBe(200);
    expect(await launcher.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(launcher.stdout + launcher.stderr).not.toContain('permission denied');
    await ask(database.url, `REASSIGN OWNED BY ${role} TO postgres`);
    await database.drop();
    const superuser = process.env['TEST_POSTGRES_URL'] ?? '';
    await ask(superuser, `DROP ROLE ${role}`);
  });

  it('uses that database, without a demo key and without animals', async () => {
    const database = await createDatabase();
    const { service } = await services.startApi({ DATABASE_URL: database.url });
    expect(service.stderr).toContain('npm run -s keys -- create');
    expect(keyOf(service)).toBe('');
    await service.stop();
    await database.drop();
  });

  it('starts several instances at once on an empty one', async () => {
    const database = await createDatabase(EMPTY);
    const instances = await Promise.all([1, 2, 3].map(() => services.startApi({ DATABASE_URL: database.url })));
    const statuses = await Promise.all(instances.map(async ({ origin }) => (await fetch(`${origin}/v1/pets`)).status));
    expect(statuses).toEqual([401, 401, 401]);
    await Promise.all(instances.map(({ service }) => service.stop()));
    await database.drop();
  });
});

describe('refuses to start, in one clear sentence, with', () => {
  const sentence = (stderr: string) => stderr.trim().split('\n');

  it('a port in use, and leaves no process', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await run(API, [], { DATA_DIR: services.folder, PORT: String(port), HOST: '127.0.0.1' });
    taken.close();
    expect(code).toBe(1);
    expect(sentence(stderr)).toEqual([
      `port ${port} of 127.0.0.1 is in use by another program; set PORT to another one`,
    ]);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('an address that is not of this machine', async () => {
    const { code, stderr } = await run(API, [], { DATA_DIR: services.folder, PORT: '0', HOST: '192.0.2.1' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toEqual(['192.0.2.1 is not an address of this machine; set HOST to one that is']);
  });

  it('a data folder that is a file', async () => {
    const file = join(services.folder, 'file');
    execFileSync('touch', [file]);
    const { code, stderr } = await run(API, [], { DATA_DIR: file, PORT: '0' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toHaveLength(1);
    expect(stderr).toContain(file);
  });

  it('a data folder where none can be made', async () => {
    const { code, stderr } = await run(API, [], { DATA_DIR: '/proc/nowhere/data', PORT: '0' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toHaveLength(1);
    expect(stderr).toContain('/proc/nowhere/data');
  });

  it('a database of its own that can’t be migrated, and leaves no process', async () => {
    const { url, close } = await openEmbeddedPostgres({ dataDirectory: services.folder });
    await ask(url, 'CREATE TABLE animals (id text)');
    await close();
    const { code, stderr } = await run(API, [], { DATA_DIR: services.folder, PORT: '0' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toHaveLength(1);
    expect(stderr).toContain(`DATA_DIR (${services.folder}/socket:5432/adoption_store) can't be used`);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('an unreachable DATABASE_URL, without its password', async () => {
    const port = await freePort();
    const url = `postgres://user:hunter2@127.0.0.1:${port}/store`;
    const { code, stderr } = await run(API, [], { DATABASE_URL: url, PORT: '0' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toHaveLength(1);
    expect(stderr).toContain(`DATABASE_URL (127.0.0.1:${port}/store) can't be used`);
    expect(stderr).not.toContain('hunter2');
  });

  it('every setting that is wrong, all in one message, with exit code 78', async () => {
    const { code, stderr } = await run(API, [], {
      PORT: '65536',
      HOST: 'not a host',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://secret@host',
      DATABASE_POOL_SIZE: '0',
      KEY_ENVIRONMENT: 'test',
      PUBLIC_URL: 'ftp://example.com',
    });
    expect(code).toBe(78);
    for (const name of [
      'PORT',
      'HOST',
      'LOG_LEVEL',
      'DATABASE_URL',
      'DATABASE_POOL_SIZE',
      'KEY_ENVIRONMENT',
      'PUBLIC_URL',
    ]) {
      expect(stderr).toMatch(new RegExp(`^ {2}${name} must be`, 'm'));
    }
    expect(stderr).not.toContain('secret');
  });
});
