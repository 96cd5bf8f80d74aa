import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { run, Running, START } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';
import { ANY_PORTS, pasteCurl, useStartedServices } from '../support/started-services.js';

const services = useStartedServices();

describe('started by npm start', () => {
  async function nothingIsLeft(): Promise<void> {
    while (servicesOf(services.folder).size > 0 || processesOf(services.folder).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it('API, worker and portal run on one database with readable output', async () => {
    const { launcher, health, services: running } = await services.startAll();
    expect([...running.keys()].sort()).toEqual(['api', 'cli', 'portal', 'worker']);
    expect(pasteCurl(launcher)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect((await fetch(health)).status).toBe(200);
    expect(launcher.stderr.split('\n')).toEqual([
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
      expect.stringMatching(/^The worker is ready: .* health at \S+$/),
      '',
    ]);
    const log = launcher.stdout.trim().split('\n');
    expect(log.filter((line) => !line.startsWith('{"level":'))).toEqual([]);
  });

  it('one Ctrl-C ends everything, even if npm sends it again', async () => {
    await services.hasServed();
    const { launcher } = await services.startAll();
    process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
    expect(await launcher.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect([...servicesOf(services.folder)]).toEqual([]);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('SIGTERM only to the launcher ends everything', async () => {
    await services.hasServed();
    const { launcher } = await services.startAll();
    expect(await launcher.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect([...servicesOf(services.folder)]).toEqual([]);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('a Ctrl-C while it is still starting leaves nothing', async () => {
    const settings = { DATA_DIR: services.folder, ...ANY_PORTS };
    const launcher = services.track(new Running(START, [], settings, { detached: true }));
    while (processesOf(services.folder).length === 0) await new Promise(setImmediate);
    process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
    expect(await launcher.finished()).toMatchObject({ code: 0 });
    expect([...servicesOf(services.folder)]).toEqual([]);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it.each(['api', 'portal', 'worker'])(
    'the others end with a killed %s, with a message and an exit code',
    async (name) => {
      await services.hasServed();
      const { launcher, services: running } = await services.startAll();
      killAll([running.get(name) ?? 0]);
      expect(await launcher.finished()).toMatchObject({
        code: 128 + 9,
        stderr: `the ${name} was ended by SIGKILL, so all services stop\n`,
      });
      await nothingIsLeft();
    },
  );

  it('a killed launcher leaves nothing', async () => {
    await services.hasServed();
    const { launcher } = await services.startAll();
    await launcher.stop('SIGKILL');
    await nothingIsLeft();
  });

  it("a port in use for the worker's health is reported in one sentence, and ends everything", async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const settings = { DATA_DIR: services.folder, ...ANY_PORTS, WORKER_PORT: String(port) };
    await services.hasServed();
    const { code, stderr } = await run(START, [], settings);
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toBe(`port ${port} of 127.0.0.1 is in use by another program; set WORKER_PORT to another one\n`);
    expect([...servicesOf(services.folder)]).toEqual([]);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('every wrong setting of every service is reported before any service starts', async () => {
    const wrong = { BAN_REFUSALS: '0', PORTAL_SECRET: 'short', ORDER_TTL: 'never' };
    const { code, stdout, stderr } = await run(START, [], { DATA_DIR: services.folder, PORT: '0', ...wrong });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    for (const name of Object.keys(wrong)) expect(stderr).toMatch(new RegExp(`^ {2}${name} must be`, 'm'));
    expect(readdirSync(services.folder)).toEqual([]);
  });

  it('a missing address for mailed links is reported before any service starts', async () => {
    const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'a@example.com', STORE_EMAIL: 'b@example.com' };
    const { code, stdout, stderr } = await run(START, [], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', ...mail });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('PORTAL_URL must be set if SMTP_URL and DATABASE_URL are');
  });

  it('an empty portal-secret that an earlier version left on a full disk does not prevent a start', async () => {
    await writeFile(join(services.folder, 'portal-secret'), '', { mode: 0o600 });
    await services.startAll();
  });

  it('wrong settings of the worker end it with exit code 78', async () => {
    // The portal needs no recipient.
    const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'store@example.com' };
    const { code, stderr } = await run(START, [], { DATA_DIR: services.folder, PORT: '0', PORTAL_PORT: '0', ...mail });
    expect(code).toBe(78);
    expect(stderr).toContain('STORE_EMAIL must be set if SMTP_URL is');
    expect(processesOf(services.folder)).toEqual([]);
  });
});
