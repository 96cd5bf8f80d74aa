import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Running, temporaryFolder, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';
import { ANY_PORTS } from '../support/started-services.js';

const ROOT = join(__dirname, '../..');

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

let tree: Folder;
let data: Folder;
let dev: Running;

beforeAll(async () => {
  tree = await temporaryFolder();
  data = await temporaryFolder();
  await copyRepository(tree.path);
  // In a process group of its own, as a terminal starts it.
  const options = { cwd: tree.path, detached: true };
  dev = new Running(join(tree.path, 'packages/tooling/dev.js'), [], { DATA_DIR: data.path, ...ANY_PORTS }, options);
  await dev.prints(/^The worker is ready/m);
});

afterAll(async () => {
  await dev.stop();
  killAll([...servicesOf(data.path).values(), ...processesOf(data.path)]);
  await Promise.all([tree.remove(), data.remove()]);
});

/** Copies the repository as a developer has it: the sources, and node_modules with links to the copied workspaces. */
async function copyRepository(copy: string): Promise<void> {
  const isMade = (path: string) => ['node_modules', 'dist', '.turbo'].includes(basename(path));
  for (const part of ['apps', 'packages', 'package.json', 'tsconfig.base.json'])
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: (path) => !isMade(path) });
  await mkdir(join(copy, 'node_modules/@adoption-store'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => each !== '@adoption-store'))
    await symlink(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
  for (const parent of ['apps', 'packages'])
    for (const name of readdirSync(join(copy, parent))) {
      await symlink(join(copy, parent, name), join(copy, 'node_modules/@adoption-store', name));
      // A workspace's own version of a dependency.
      const own = join(ROOT, parent, name, 'node_modules');
      if (existsSync(own)) await symlink(own, join(copy, parent, name, 'node_modules'));
    }
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
  const what = `${text} at ${path} of the ${service}`;
  await until(async () => (await read(service, path)).includes(text), { what });
}

it('npm run dev shows a change of a controller or a view without a build, and one of a package in each service that uses it', async () => {
  await Promise.all([shows('api', '/v1/rate_limit', '"plan":"pro"'), shows('portal', '/', '<h1>Animals')]);
  change('apps/api/src/limits/limits.controller.ts', 'plan: caller.account.plan.name', `plan: 'changed'`);
  await shows('api', '/v1/rate_limit', '"plan":"changed"');
  change('apps/portal/views/home.eta', '<h1>', '<h1>Changed: ');
  await shows('portal', '/', '<h1>Changed: Animals');
  change('packages/web/src/health.ts', `'ok\\n'`, `'changed\\n'`);
  await Promise.all([shows('api', '/livez', 'changed'), shows('portal', '/livez', 'changed')]);
  expect(existsSync(join(tree.path, 'apps/api/dist'))).toBe(false);
});

it('npm run dev ends everything at one Ctrl-C, PostgreSQL included, also where npm passes it on once more', async () => {
  // The last change has started them again.
  await until(() => ['api', 'portal', 'worker'].every((name) => servicesOf(data.path).has(name)));
  expect(processesOf(data.path)).not.toEqual([]);
  process.kill(-(dev.child.pid ?? 0), 'SIGINT');
  expect(await dev.stop('SIGINT')).toMatchObject({ code: 0 });
  expect([...servicesOf(data.path)]).toEqual([]);
  expect(processesOf(data.path)).toEqual([]);
});
