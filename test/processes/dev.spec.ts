import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Running, temporaryFolder, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';

const ROOT = join(__dirname, '../..');
const WORKER_READY = /^The worker is ready/m;
let tree: Awaited<ReturnType<typeof temporaryFolder>>;
let data: Awaited<ReturnType<typeof temporaryFolder>>;
let dev: Running;

beforeAll(async () => {
  tree = await temporaryFolder();
  data = await temporaryFolder();
  await copyRepository(tree.path);
  dev = new Running(
    join(tree.path, 'packages/tooling/dev.js'),
    [],
    { DATA_DIR: data.path, PORT: '0', HOST: '127.0.0.1', PORTAL_PORT: '0', PORTAL_HOST: '127.0.0.1', WORKER_PORT: '0' },
    // In a process group of its own, as a terminal starts it.
    { cwd: tree.path, detached: true },
  );
  await dev.prints(WORKER_READY);
});

afterAll(async () => {
  await dev.stop();
  killAll([...servicesOf(data.path).values(), ...processesOf(data.path)]);
  await Promise.all([tree.remove(), data.remove()]);
});

/** Copies the repository as a developer has it: the sources, and node_modules with links to the copied workspaces. */
async function copyRepository(copy: string): Promise<void> {
  const isMade = (path: string) => ['node_modules', 'dist', '.turbo'].includes(basename(path));
  for (const part of ['apps', 'packages', 'tsconfig.base.json'])
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: (path) => !isMade(path) });
  await mkdir(join(copy, 'node_modules/@adoption-store'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => each !== '@adoption-store'))
    await symlink(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
  for (const parent of ['apps', 'packages'])
    for (const name of readdirSync(join(copy, parent)))
      await symlink(join(copy, parent, name), join(copy, 'node_modules/@adoption-store', name));
}

function change(path: string, from: string, to: string): void {
  const file = join(tree.path, path);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
}

/** The text at a path of the API or the portal, at the address that it printed last; empty while it starts again. */
async function read(service: 'api' | 'portal', path: string): Promise<string> {
  const pattern = { api: /Address {2}(\S+)\/v1/g, portal: /Portal {3}(\S+)/g }[service];
  const address = [...dev.stderr.matchAll(pattern)].at(-1)?.[1] ?? '';
  const key = /aas_live_\w+/.exec(dev.stderr)?.[0] ?? '';
  return fetch(`${address}${path}`, { headers: { authorization: `Bearer ${key}` } }).then(
    (response) => response.text(),
    () => '',
  );
}

async function shows(service: 'api' | 'portal', path: string, text: string): Promise<void> {
  await until(async () => (await read(service, path)).includes(text), { what: `${text} at ${path} of the ${service}` });
}

describe('npm run dev', () => {
  it('shows a change of a controller without a build', async () => {
    expect(await read('api', '/v1/rate_limit')).toContain('"plan":"pro"');
    change('apps/api/src/rate-limiting/rate-limit.controller.ts', 'plan: caller.account.plan.name', `plan: 'changed'`);
    await shows('api', '/v1/rate_limit', '"plan":"changed"');
    expect(existsSync(join(tree.path, 'apps/api/dist'))).toBe(false);
  });

  it('shows a change of a view of the portal', async () => {
    expect(await read('portal', '/')).toContain('<h1>Animals');
    change('apps/portal/views/home.eta', '<h1>', '<h1>Changed: ');
    await shows('portal', '/', '<h1>Changed: Animals');
  });

  it('shows a change of a package in each service that uses it', async () => {
    expect(await read('portal', '/livez')).toBe('ok\n');
    change('packages/web/src/health.ts', `'ok\\n'`, `'changed\\n'`);
    await Promise.all([shows('api', '/livez', 'changed'), shows('portal', '/livez', 'changed')]);
  });

  it('waits for the next change where a service fails, and leaves the others up', async () => {
    const file = 'apps/portal/src/main.ts';
    change(file, 'import', 'imp ort');
    await until(() => dev.stderr.includes('The portal has ended. It starts again at the next change.'));
    await shows('api', '/livez', 'changed');
    change(file, 'imp ort', 'import');
    await shows('portal', '/', '<h1>Changed: ');
  });

  it('ends everything at one Ctrl-C, PostgreSQL included, also where npm passes it on once more', async () => {
    expect([...servicesOf(data.path).keys()].sort()).toEqual(expect.arrayContaining(['api', 'portal', 'worker']));
    expect(processesOf(data.path)).not.toEqual([]);
    process.kill(-(dev.child.pid ?? 0), 'SIGINT');
    expect(await dev.stop('SIGINT')).toMatchObject({ code: 0 });
    expect([...servicesOf(data.path)]).toEqual([]);
    expect(processesOf(data.path)).toEqual([]);
  });
});
