import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { mailSignUp, runPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';
import { API, ask, createDatabase, freePort, run, Running, START, until } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';
import { ANY_PORTS, keyOf, pasteCurl, useStartedServices } from '../support/started-services.js';

const services = useStartedServices();

describe('started by npm start', () => {
  const left = () => [...servicesOf(services.folder).values(), ...processesOf(services.folder)];
  const nothingIsLeft = () => until(() => left().length === 0);
  const expectNothingLeft = () => {
    expect(left()).toEqual([]);
  };

  it('a Ctrl-C while it is still starting leaves nothing', async () => {
    const settings = { DATA_DIR: services.folder, ...ANY_PORTS };
    const launcher = services.track(new Running(START, [], settings, { detached: true }));
    while (processesOf(services.folder).length === 0) await new Promise(setImmediate);
    process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
    expect(await launcher.finished()).toMatchObject({ code: 0 });
    expectNothingLeft();
  });

  it('the others end with a killed worker, with a message and an exit code', async () => {
    await services.hasServed();
    const { launcher, services: running } = await services.startAll();
    killAll([running.get('worker') ?? 0]);
    expect(await launcher.finished()).toMatchObject({
      code: 128 + 9,
      stderr: 'the worker was ended by SIGKILL, so all services stop\n',
    });
    await nothingIsLeft();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('%s only to the launcher ends everything', async (signal) => {
    await services.hasServed();
    const { launcher } = await services.startAll();
    await launcher.stop(signal);
    await nothingIsLeft();
  });

  /** Each service's default port, and a page that it serves there. */
  const PORTS = [
    ['PORT', 3000, '/docs'],
    ['METRICS_PORT', 9464, '/metrics'],
    ['PORTAL_PORT', 3001, '/'],
    ['PORTAL_METRICS_PORT', 9465, '/metrics'],
    ['WORKER_PORT', 3002, '/readyz'],
  ] as const;

  it('ports that nobody has set and that are in use, as by a second clone, are replaced by free ones and printed', async () => {
    await services.hasServed();
    // An address of this test alone, where a machine has several.
    const numbers = [...randomBytes(3)].map((byte) => 1 + (byte % 250));
    const host = process.platform === 'linux' ? `127.${numbers.join('.')}` : '127.0.0.1';
    const others = PORTS.map(([, port]) => createServer().listen(port, host));
    // If another program has the port of all addresses, it is in use as well.
    await Promise.all(others.map((each) => once(each, 'listening').catch(() => undefined)));
    const hosts = { HOST: host, METRICS_HOST: host, PORTAL_HOST: host, WORKER_HOST: host };
    const unset = Object.fromEntries(PORTS.map(([name]) => [name, '']));
    const launcher = services.track(new Running(START, [], { DATA_DIR: services.folder, ...hosts, ...unset }));
    await launcher.prints(/^The worker is ready/m);
    for (const each of others) each.close();
    for (const [name, used, path] of PORTS) {
      const sentence = `^port ${used} of ${host} is in use by another program, so ${name} is (\\d+) until this ends$`;
      const [, port = ''] = new RegExp(sentence, 'm').exec(launcher.stderr) ?? [];
      expect({ name, status: (await fetch(`http://${host}:${port}${path}`)).status }).toEqual({ name, status: 200 });
    }
    expect(await launcher.stop('SIGTERM')).toMatchObject({ code: 0 });
    expectNothingLeft();
  });

  it('what connects before the API listens, such as a health check, delays no start', async () => {
    await services.hasServed();
    const port = await freePort();
    const settings = { DATA_DIR: services.folder, ...ANY_PORTS, PORT: String(port) };
    const launcher = services.track(new Running(START, [], settings));
    // Waits for an answer for as long as it is let, then tries again.
    const check = () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.once('close', () => launcher.child.exitCode ?? setTimeout(check, 1));
    };
    check();
    await launcher.prints(/^The worker is ready/m);
    expect(await launcher.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.each([
    ['PORT', API],
    ['WORKER_PORT', START],
  ])('a %s that is set and in use is an error in one sentence, before anything is ready', async (name, program) => {
    await services.hasServed();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as { port: number }).port);
    const settings = { DATA_DIR: services.folder, ...ANY_PORTS, METRICS_HOST: '127.0.0.1', [name]: port };
    const { code, stdout, stderr } = await run(program, [], settings);
    taken.close();
    const sentence = `port ${port} of 127.0.0.1 is in use by another program; set ${name} to another one\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: sentence });
    // A service that has become ready has logged that.
    if (program === START) expect(stdout).toBe('');
    expectNothingLeft();
  });

  it('every wrong setting of every service is reported before any service starts', async () => {
    const proxies = { TRUST_PROXY: '0.0.0.0/0', PUBLIC_URL: 'http://x/v1' };
    const wrong = { ...proxies, BAN_REFUSALS: '0', PORTAL_SECRET: 'short', ORDER_TTL: 'never' };
    const { code, stdout, stderr } = await run(START, [], { DATA_DIR: services.folder, PORT: '0', ...wrong });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    for (const name of Object.keys(wrong)) expect(stderr).toMatch(new RegExp(`^ {2}${name} must be`, 'm'));
    expect(readdirSync(services.folder)).toEqual([]);
  });
});

describe('started on a data folder', () => {
  it('that is empty, stores the demo key readable only by its owner, and logs no key', async () => {
    const { service } = await services.startApi({ LOG_LEVEL: 'trace' });
    expect(statSync(join(services.folder, 'demo-api-key')).mode & 0o777).toBe(0o600);
    expect(statSync(services.folder).mode & 0o077).toBe(0);
    const answer = pasteCurl(service);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain('"status":"available"');
    await service.stop();
    expect(service.stdout).not.toBe('');
    expect(service.stdout).not.toContain('aas_');
  });

  it('again, has the same animals and the same key, and Ctrl-C left no process', async () => {
    const key = await services.hasServed();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const first = await services.startApi();
    const added = { method: 'POST', headers, body: '{"name":"Kept","categoryId":1}' };
    expect(await fetch(`${first.origin}/v1/pets`, added)).toMatchObject({ status: 201 });
    expect(processesOf(services.folder)).not.toEqual([]);
    expect(await first.service.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect(processesOf(services.folder)).toEqual([]);
    const second = await services.startApi();
    expect(keyOf(second.service)).toBe(key);
    const pets = await (await fetch(`${second.origin}/v1/pets`, { headers })).json();
    expect(pets).toMatchObject(['Luna', 'Milo', 'Nala', 'Rocky', 'Coco', 'Kept'].map((name) => ({ name })));
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ['a file that others may read', (file) => chmod(file, 0o644)],
    // Only root can give a file away. Another user has an empty one here.
    ['a file of another user’s', (file) => (process.getuid?.() === 0 ? chown(file, 1, 1) : writeFile(file, ''))],
  ])('creates a new demo key instead of %s', async (_what, spoil) => {
    const key = await services.hasServed();
    const file = join(services.folder, 'demo-api-key');
    await spoil(file);
    const second = await services.startApi();
    expect(keyOf(second.service)).toMatch(/^aas_live_/);
    expect(keyOf(second.service)).not.toBe(key);
    const { mode, uid } = lstatSync(file);
    expect({ mode, uid }).toEqual({ mode: constants.S_IFREG | 0o600, uid: process.getuid?.() });
    expect(readFileSync(file, 'utf8')).toBe(`${keyOf(second.service)}\n`);
  });
});

describe('started with DATABASE_URL', () => {
  it('portals share sessions without PORTAL_SECRET, and no log or backup role sees the secret', async () => {
    const database = await createDatabase();
    const portals = await Promise.all([1, 2].map(() => runPortal(database.url, { LOG_LEVEL: 'trace' })));
    for (const { process } of portals) services.track(process);
    const [one, other] = portals.map(({ origin }) => new Visitor(origin, '2001:db8::1'));
    const token = await mailSignUp(database.url, 'dev@example.com');
    await one?.get('/finish-sign-up');
    Object.assign(other ?? {}, { cookies: one?.cookies, token: one?.token });
    const signedUp = await other?.post('/finish-sign-up', { token, password: PASSWORD });
    expect(signedUp).toMatchObject({ status: 303 });

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
});

it('an unreachable DATABASE_URL is refused at the start, in one clear sentence without its password', async () => {
  const port = await freePort();
  const DATABASE_URL = `postgres://user:hunter2@127.0.0.1:${port}/store`;
  const { code, stderr } = await run(API, [], { DATABASE_URL, PORT: '0' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^.+\n$/) });
  expect(stderr).toContain(`DATABASE_URL (127.0.0.1:${port}/store) can't be used`);
  expect(stderr).not.toContain('hunter2');
});
