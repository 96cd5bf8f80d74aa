import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { API, KEYS, run, Running } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import { killAll, processesOf } from '../support/process-list.js';
import { add, ANY_PORTS, keyOf, names, pasteCurl, useStartedServices } from '../support/started-services.js';

const services = useStartedServices();

describe('started on an empty data folder', () => {
  it('answers the printed curl command with animals', async () => {
    const { service } = await services.startApi();
    const answer = pasteCurl(service);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain('"status":"available"');
  });

  it('stores the demo key readable only by its owner, and logs no key', async () => {
    const { service } = await services.startApi({ LOG_LEVEL: 'trace' });
    expect(statSync(join(services.folder, 'demo-api-key')).mode & 0o777).toBe(0o600);
    expect(statSync(services.folder).mode & 0o077).toBe(0);
    await service.stop();
    expect(service.stdout).not.toBe('');
    expect(service.stdout).not.toContain('aas_');
  });

  it("answers the README's first call as documented", async () => {
    await services.hasServed();
    const { origin } = await services.startApi();
    const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
    const example = /^## A first call\n+```sh\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '';
    const commands = example
      .replace('npm run -s keys --', `"${process.execPath}" "${KEYS}"`)
      .replaceAll('http://localhost:3000', origin)
      .replaceAll(/^curl /gm, "curl -sS -w '\\n' ");
    const env = { PATH: process.env['PATH'], DATA_DIR: services.folder };
    const printed = execFileSync('bash', ['-ec', commands], { encoding: 'utf8', env });
    const promised = [...example.matchAll(/^# (.+)$/gm)].map(([, line]) => line);
    expect(promised).toHaveLength(2);
    expect(printed.trim().split('\n')).toEqual(promised);
  });

  it('ends within seconds on Ctrl-C and leaves no process', async () => {
    await services.hasServed();
    const { service } = await services.startApi();
    expect(processesOf(services.folder)).not.toEqual([]);
    const before = performance.now();
    expect(await service.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - before).toBeLessThan(8_000);
    expect(processesOf(services.folder)).toEqual([]);
  });

  it('honours a Ctrl-C while it is still starting', async () => {
    const service = services.track(new Running(API, [], { DATA_DIR: services.folder, ...ANY_PORTS }));
    while (processesOf(services.folder).length === 0) await new Promise(setImmediate);
    expect(await service.stop('SIGINT')).toMatchObject({ code: 0 });
    expect(processesOf(services.folder)).toEqual([]);
  });
});

describe('started again on the same data folder', () => {
  it('has the same animals and the same key', async () => {
    const key = await services.hasServed();
    const first = await services.startApi();
    await add(first.origin, key, 'Kept');
    await first.service.stop();
    const second = await services.startApi();
    expect(keyOf(second.service)).toBe(key);
    expect(await names(second.origin, key)).toEqual([...['Luna', 'Milo', 'Nala', 'Rocky', 'Coco'], 'Kept']);
  });

  it('has every acknowledged write after kill -9 of everything', async () => {
    const key = await services.hasServed();
    const first = await services.startApi();
    for (let index = 0; index < 20; index += 1) await add(first.origin, key, `acknowledged ${index}`);
    killAll(processesOf(services.folder));
    await first.service.stop('SIGKILL');
    const second = await services.startApi();
    expect(await names(second.origin, key)).toEqual(
      expect.arrayContaining(Array.from({ length: 20 }, (_, index) => `acknowledged ${index}`)),
    );
  });

  it.each(['an empty file', 'a file that others may read', 'a link', 'a file of another user’s'])(
    'creates a new demo key instead of %s',
    async (what) => {
      const key = await services.hasServed();
      const file = join(services.folder, 'demo-api-key');
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
      const second = await services.startApi();
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
    const key = await services.hasServed();
    const { stdout } = await run(KEYS, ['list'], { DATA_DIR: services.folder });
    const id = /^(\d+) .*demo@example\.com/m.exec(stdout)?.[1] ?? '';
    expect(await run(KEYS, ['revoke', id], { DATA_DIR: services.folder })).toMatchObject({ code: 0 });
    const second = await services.startApi();
    expect(keyOf(second.service)).not.toBe(key);
    expect(pasteCurl(second.service)).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});
