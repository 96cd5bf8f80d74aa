import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, rename, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
import {
  API,
  ask,
  createDatabase,
  type Environment,
  freePort,
  KEYS,
  MIGRATE,
  run,
  Running,
  START,
  temporaryFolder,
} from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runPortal } from '../support/portal-process.js';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';

const READY = /Address {2}(\S+)\/v1/;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let started: Running[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  await Promise.all(started.map((service) => service.stop()));
  started = [];
  killAll([...servicesOf(folder.path).values(), ...processesOf(folder.path)]);
  await folder.remove();
});

async function startService(environment: Environment = {}) {
  const settings = { DATA_DIR: folder.path, PORT: '0', HOST: '127.0.0.1', ...environment };
  const service = new Running(API, [], settings);
  started.push(service);
  const origin = (await service.prints(READY))[1] ?? '';
  return { service, origin };
}

/** Runs the printed curl command, as a new user would. */
function pasteCurl(service: Running): string {
  const line = /^ *(curl .*)$/m.exec(service.stdout)?.[1] ?? '';
  return execFileSync('bash', ['-c', line.replace('curl', 'curl -sS')], { encoding: 'utf8' });
}

function keyOf(service: Running): string {
  return /aas_live_\w+/.exec(service.stdout)?.[0] ?? '';
}

async function names(origin: string, key: string): Promise<string[]> {
  const response = await fetch(`${origin}/v1/pets?limit=100`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { name: string }[]).map(({ name }) => name);
}

async function add(origin: string, key: string, name: string): Promise<void> {
  const response = await fetch(`${origin}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
  expect(response.status).toBe(201);
}

describe('started on an empty data folder', () => {
  it('answers the printed curl command with animals', async () => {
    const { service } = await startService();
    const answer = pasteCurl(service);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain('"status":"available"');
  });

  it("answers the README's first call as documented", async () => {
    const { origin } = await startService();
    const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
    const example = /^## A first call\n+```sh\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '';
    const commands = example
      .replace('npm run -s keys --', `"${process.execPath}" "${KEYS}"`)
      .replaceAll('http://localhost:3000', origin)
      .replaceAll(/^curl /gm, "curl -sS -w '\\n' ");
    const env = { PATH: process.env['PATH'], DATA_DIR: folder.path };
    const printed = execFileSync('bash', ['-ec', commands], { encoding: 'utf8', env });
    const promised = [...example.matchAll(/^# (.+)$/gm)].map(([, line]) => line);
    expect(promised).toHaveLength(2);
    expect(printed.trim().split('\n')).toEqual(promised);
  });

  it('stores the demo key readable only by its owner, and logs no key', async () => {
    const { service } = await startService({ LOG_LEVEL: 'trace' });
    expect(statSync(join(folder.path, 'demo-api-key')).mode & 0o777).toBe(0o600);
    expect(statSync(folder.path).mode & 0o077).toBe(0);
    await service.stop();
    const logLines = service.stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(logLines.length).toBeGreaterThan(0);
    expect(logLines.join('\n')).not.toContain('aas_');
  });

  it('ends within seconds on Ctrl-C and leaves no process', async () => {
    const { service } = await startService();
    expect(processesOf(folder.path)).not.toEqual([]);
    const before = performance.now();
    expect(await service.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('honours a Ctrl-C while it is still starting', async () => {
    const service = new Running(API, [], { DATA_DIR: folder.path, PORT: '0', HOST: '127.0.0.1' });
    started.push(service);
    while (processesOf(folder.path).length === 0) await new Promise(setImmediate);
    expect(await service.stop('SIGINT')).toMatchObject({ code: 0 });
    expect(processesOf(folder.path)).toEqual([]);
  });
});

describe('started again on the same data folder', () => {
  it('has the same animals and the same key', async () => {
    const first = await startService();
    const key = keyOf(first.service);
    await add(first.origin, key, 'Kept');
    await first.service.stop();
    const second = await startService();
    expect(keyOf(second.service)).toBe(key);
    expect(await names(second.origin, key)).toEqual([...['Luna', 'Milo', 'Nala', 'Rocky', 'Coco'], 'Kept']);
  });

  it('has every acknowledged write after kill -9 of everything', async () => {
    const first = await startService();
    const key = keyOf(first.service);
    for (let index = 0; index < 20; index += 1) await add(first.origin, key, `acknowledged ${index}`);
    killAll(processesOf(folder.path));
    await first.service.stop('SIGKILL');
    const second = await startService();
    expect(await names(second.origin, key)).toEqual(
      expect.arrayContaining(Array.from({ length: 20 }, (_, index) => `acknowledged ${index}`)),
    );
  });

  it.each(['an empty file', 'a file that others may read', 'a link', 'a file of another user’s'])(
    'creates a new demo key instead of %s',
    async (what) => {
      const first = await startService();
      const key = keyOf(first.service);
      await first.service.stop();
      const file = join(folder.path, 'demo-api-key');
      if (what === 'an empty file') await writeFile(file, '');
      if (what === 'a file that others may read') await chmod(file, 0o644);
      if (what === 'a link') {
        await rename(file, `${file}.elsewhere`);
        await symlink(`${file}.elsewhere`, file);
      }
      if (what === 'a file of another user’s') {
        if (process.getuid?.() !== 0) return;
        await chown(file, 1, 1);
      }
      const second = await startService();
      expect(keyOf(second.service)).toMatch(/^aas_live_/);
      expect(keyOf(second.service)).not.toBe(key);
      const found = lstatSync(file);
      expect({ isFile: found.isFile(), mode: found.mode & 0o777, uid: found.uid }).toEqual({
        isFile: true,
        mode: 0o600,
        uid: process.getuid?.(),
      });
      expect(readFileSync(file, 'utf8')).toBe(`${keyOf(second.service)}\n`);
    },
  );

  it('creates a new demo key if the old one was revoked', async () => {
    const first = await startService();
    const key = keyOf(first.service);
    await first.service.stop();
    const { stdout } = await run(KEYS, ['list'], { DATA_DIR: folder.path });
    const id = /^(\d+) .*demo@example\.com/m.exec(stdout)?.[1] ?? '';
    expect(await run(KEYS, ['revoke', id], { DATA_DIR: folder.path })).toMatchObject({ code: 0 });
    const second = await startService();
    expect(keyOf(second.service)).not.toBe(key);
    expect(pasteCurl(second.service)).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

describe('started by npm start', () => {
  const WORKER_READY = /^The worker is ready: .* health at (\S+)$/m;

  /** Starts everything in its own process group, as a terminal does. */
  async function startAll() {
    const settings = {
      DATA_DIR: folder.path,
      PORT: '0',
      HOST: '127.0.0.1',
      PORTAL_PORT: '0',
      PORTAL_HOST: '127.0.0.1',
      WORKER_PORT: '0',
      WORKER_HOST: '127.0.0.1',
    };
    const launcher = new Running(START, [], settings, { detached: true });
    started.push(launcher);
    const [, health = ''] = await launcher.prints(WORKER_READY);
    return { launcher, health, services: servicesOf(folder.path) };
  }

  async function nothingIsLeft(): Promise<void> {
    while (servicesOf(folder.path).size > 0 || processesOf(folder.path).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it('API, worker and portal run on one database with readable output', async () => {
    const { launcher, health, services } = await startAll();
    expect([...services.keys()].sort()).toEqual(['api', 'cli', 'portal', 'worker']);
    expect(pasteCurl(launcher)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect((await fetch(health)).status).toBe(200);
    expect(launcher.stdout.split('\n').filter((line) => !line.startsWith('{'))).toEqual([
      '',
      'The Animal Adoption Store API is ready. Ctrl-C ends it.',
      '',
      expect.stringContaining('Address'),
      expect.stringMatching(/Docs {5}http:\S+\/docs$/),
      expect.stringContaining('Metrics'),
      expect.stringContaining('API key'),
      '',
      expect.stringContaining('Try it:'),
      expect.stringContaining('curl'),
      '',
      expect.stringMatching(/^ {2}Portal {3}http:\S+$/),
      '',
      expect.stringMatching(WORKER_READY),
      '',
    ]);
    expect(launcher.stderr).toBe('');
  });

  it('one Ctrl-C ends everything, even if npm sends it again', async () => {
    const { launcher } = await startAll();
    process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
    expect(await launcher.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect([...servicesOf(folder.path)]).toEqual([]);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('SIGTERM only to the launcher ends everything', async () => {
    const { launcher } = await startAll();
    expect(await launcher.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect([...servicesOf(folder.path)]).toEqual([]);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('a Ctrl-C while it is still starting leaves nothing', async () => {
    const settings = { DATA_DIR: folder.path, PORT: '0', HOST: '127.0.0.1', PORTAL_PORT: '0', WORKER_PORT: '0' };
    const launcher = new Running(START, [], settings, { detached: true });
    started.push(launcher);
    while (processesOf(folder.path).length === 0) await new Promise(setImmediate);
    process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
    expect(await launcher.finished()).toMatchObject({ code: 0 });
    expect([...servicesOf(folder.path)]).toEqual([]);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it.each(['api', 'portal', 'worker'])(
    'the others end with a killed %s, with a message and an exit code',
    async (name) => {
      const { launcher, services } = await startAll();
      killAll([services.get(name) ?? 0]);
      expect(await launcher.finished()).toMatchObject({
        code: 128 + 9,
        stderr: `the ${name} was ended by SIGKILL, so all services stop\n`,
      });
      await nothingIsLeft();
    },
  );

  it('a killed launcher leaves nothing', async () => {
    const { launcher } = await startAll();
    await launcher.stop('SIGKILL');
    await nothingIsLeft();
  });

  it("a port in use for the worker's health is reported in one sentence, and ends everything", async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const settings = {
      DATA_DIR: folder.path,
      PORT: '0',
      PORTAL_PORT: '0',
      WORKER_HOST: '127.0.0.1',
      WORKER_PORT: String(port),
    };
    const { code, stderr } = await run(START, [], settings);
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toBe(`port ${port} of 127.0.0.1 is in use by another program; set WORKER_PORT to another one\n`);
    expect([...servicesOf(folder.path)]).toEqual([]);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('every wrong setting of every service is reported before any service starts', async () => {
    const wrong = { BAN_REFUSALS: '0', PORTAL_SECRET: 'short', ORDER_TTL: 'never' };
    const { code, stdout, stderr } = await run(START, [], { DATA_DIR: folder.path, PORT: '0', ...wrong });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    for (const name of Object.keys(wrong)) expect(stderr).toMatch(new RegExp(`^ {2}${name} must be`, 'm'));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('a missing address for mailed links is reported before any service starts', async () => {
    const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'a@example.com', STORE_EMAIL: 'b@example.com' };
    const { code, stdout, stderr } = await run(START, [], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', ...mail });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('PORTAL_URL must be set if SMTP_URL and DATABASE_URL are');
  });

  it('an empty portal-secret that an earlier version left on a full disk does not prevent a start', async () => {
    await writeFile(join(folder.path, 'portal-secret'), '', { mode: 0o600 });
    await startAll();
  });

  it('wrong settings of the worker end it with exit code 78', async () => {
    // The portal needs no recipient.
    const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'store@example.com' };
    const { code, stderr } = await run(START, [], { DATA_DIR: folder.path, PORT: '0', PORTAL_PORT: '0', ...mail });
    expect(code).toBe(78);
    expect(stderr).toContain('STORE_EMAIL must be set if SMTP_URL is');
    expect(processesOf(folder.path)).toEqual([]);
  });
});

describe('started with DATABASE_URL', () => {
  it('by npm start, needs no other setting', async () => {
    const database = await createDatabase();
    const settings = { DATABASE_URL: database.url, PORT: '0', PORTAL_PORT: '0', WORKER_PORT: '0' };
    const launcher = new Running(START, [], settings);
    started.push(launcher);
    await launcher.prints(/^The worker is ready/m);
    expect(await launcher.stop()).toMatchObject({ code: 0, stderr: '' });
    await database.drop();
  });

  it('portals share sessions without PORTAL_SECRET, and no log or backup role sees the secret', async () => {
    const database = await createDatabase();
    const portals = await Promise.all([1, 2].map(() => runPortal(database.url, { LOG_LEVEL: 'trace' })));
    started.push(...portals.map(({ process }) => process));
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
    const database = await createDatabase();
    const role = `plain_${randomBytes(6).toString('hex')}`;
    const name = new URL(database.url).pathname.slice(1);
    await ask(database.url, `CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS`);
    await ask(database.url, `ALTER DATABASE ${name} OWNER TO ${role}`);
    const url = database.url.replace('user=postgres', `user=${role}`);
    expect(await ask(url, 'SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolname: role, rolsuper: false },
    ]);
    expect(await run(MIGRATE, [], { DATABASE_URL: url })).toMatchObject({ code: 0, stderr: '' });
    const launcher = new Running(START, [], { DATABASE_URL: url, PORT: '0', PORTAL_PORT: '0', WORKER_PORT: '0' });
    started.push(launcher);
    await launcher.prints(/^The worker is ready/m);
    const { code, stdout, stderr } = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATABASE_URL: url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const origin = READY.exec(launcher.stdout)?.[1] ?? '';
    await add(origin, stdout.trim(), 'Luna');
    expect(await names(origin, stdout.trim())).toEqual(['Luna']);
    const portal = /Portal {3}(\S+)/.exec(launcher.stdout)?.[1] ?? '';
    expect((await fetch(`${portal}/sign-up`)).status).toBe(200);
    expect(await launcher.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(launcher.stdout).not.toContain('permission denied');
    await ask(database.url, `REASSIGN OWNED BY ${role} TO postgres`);
    await database.drop();
    const superuser = process.env['TEST_POSTGRES_URL'] ?? '';
    await ask(superuser, `DROP ROLE ${role}`);
  });

  it('uses that database, without a demo key and without animals', async () => {
    const database = await createDatabase();
    const { service } = await startService({ DATABASE_URL: database.url });
    expect(service.stdout).toContain('npm run -s keys -- create');
    expect(keyOf(service)).toBe('');
    await service.stop();
    await database.drop();
  });

  it('starts several instances at once on an empty one', async () => {
    const database = await createDatabase();
    const services = await Promise.all([1, 2, 3].map(() => startService({ DATABASE_URL: database.url })));
    const statuses = await Promise.all(services.map(async ({ origin }) => (await fetch(`${origin}/v1/pets`)).status));
    expect(statuses).toEqual([401, 401, 401]);
    await Promise.all(services.map(({ service }) => service.stop()));
    await database.drop();
  });
});

describe('refuses to start, in one clear sentence, with', () => {
  const sentence = (stderr: string) => stderr.trim().split('\n');

  it('a port in use, and leaves no process', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await run(API, [], { DATA_DIR: folder.path, PORT: String(port), HOST: '127.0.0.1' });
    taken.close();
    expect(code).toBe(1);
    expect(sentence(stderr)).toEqual([
      `port ${port} of 127.0.0.1 is in use by another program; set PORT to another one`,
    ]);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('an address that is not of this machine', async () => {
    const { code, stderr } = await run(API, [], { DATA_DIR: folder.path, PORT: '0', HOST: '192.0.2.1' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toEqual(['192.0.2.1 is not an address of this machine; set HOST to one that is']);
  });

  it('a data folder that is a file', async () => {
    const file = join(folder.path, 'file');
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
    const { url, close } = await openEmbeddedPostgres({ dataDirectory: folder.path });
    await ask(url, 'CREATE TABLE animals (id text)');
    await close();
    const { code, stderr } = await run(API, [], { DATA_DIR: folder.path, PORT: '0' });
    expect(code).toBe(1);
    expect(sentence(stderr)).toHaveLength(1);
    expect(stderr).toContain(`DATA_DIR (${folder.path}/socket:5432/adoption_store) can't be used`);
    expect(processesOf(folder.path)).toEqual([]);
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
