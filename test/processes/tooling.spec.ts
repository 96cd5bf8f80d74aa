import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { API, Running, temporaryFolder, until } from '@adoption-store/test-support';
import { staleBuild } from '@adoption-store/test-support/compiled';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';
import { ANY_PORTS } from '../support/started-services.js';

const ROOT = join(__dirname, '../..');
const BUILD = join(ROOT, 'packages/tooling/build.js');
const DOMAIN = join(ROOT, 'packages/domain');

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

it('the build before a command prints nothing if it succeeds', async () => {
  const tree = await temporaryFolder();
  const write = (path: string, content: object) => {
    mkdirSync(dirname(join(tree.path, path)), { recursive: true });
    writeFileSync(join(tree.path, path), JSON.stringify(content));
  };
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  write('package.json', { packageManager, workspaces: ['apps/*'] });
  write('package-lock.json', { lockfileVersion: 3, packages: {} });
  write('turbo.json', { tasks: { build: { outputs: ['dist/**'] } } });
  const build = 'mkdir -p dist && echo built >dist/program';
  write('apps/cli/package.json', { name: '@adoption-store/cli', scripts: { build } });
  const PATH = [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const TURBO_CACHE_DIR = join(tree.path, 'node_modules/.cache/turbo');
  const { status, stdout, stderr } = spawnSync(process.execPath, [BUILD, 'cli'], {
    cwd: tree.path,
    encoding: 'utf8',
    env: { PATH, TURBO_CACHE_DIR, TURBO_TELEMETRY_DISABLED: '1' },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  // On a slow machine people are told why they wait.
  expect(stderr.replace('Building what has changed …\n', '')).toBe('');
  expect(readFileSync(join(tree.path, 'apps/cli/dist/program'), 'utf8')).toBe('built\n');
  await tree.remove();
});

it('no suite starts a compiled program whose sources were changed after its build; a touched source is no change', async () => {
  const tree = await temporaryFolder();
  const { path } = tree;
  const source = join(path, 'src/index.ts');
  mkdirSync(dirname(source));
  writeFileSync(source, 'export const answer = 41;');
  const compilerOptions = { composite: true, rootDir: 'src', outDir: 'dist' };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  const compiled = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-b', path], { encoding: 'utf8' });
  expect(compiled).toMatchObject({ status: 0, stdout: '' });
  const later = new Date(Date.now() + 60_000);
  utimesSync(source, later, later);
  expect(staleBuild([path], path)).toBeUndefined();
  writeFileSync(source, 'export const answer = 42;');
  utimesSync(source, later, later);
  const stale = staleBuild([path], path);
  expect(stale).toBe('tsconfig.json: its sources were changed after they were compiled; run: npm run build');
  const before = process.env['STALE_BUILD'];
  process.env['STALE_BUILD'] = stale;
  expect(() => new Running(API, [], {})).toThrow(stale);
  process.env['STALE_BUILD'] = before;
  await tree.remove();
});

describe('npm run dev', () => {
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

  it('shows a change of a controller or a view without a build, and one of a package in each service that uses it', async () => {
    await Promise.all([shows('api', '/v1/rate_limit', '"plan":"pro"'), shows('portal', '/', '<h1>Animals')]);
    change('apps/api/src/limits/limits.controller.ts', 'plan: caller.account.plan.name', `plan: 'changed'`);
    await shows('api', '/v1/rate_limit', '"plan":"changed"');
    change('apps/portal/views/home.eta', '<h1>', '<h1>Changed: ');
    await shows('portal', '/', '<h1>Changed: Animals');
    change('packages/web/src/health.ts', `'ok\\n'`, `'changed\\n'`);
    await Promise.all([shows('api', '/livez', 'changed'), shows('portal', '/livez', 'changed')]);
    expect(existsSync(join(tree.path, 'apps/api/dist'))).toBe(false);
  });

  it('ends everything at one Ctrl-C, PostgreSQL included, also where npm passes it on once more', async () => {
    // The last change has started them again.
    await until(() => ['api', 'portal', 'worker'].every((name) => servicesOf(data.path).has(name)));
    expect(processesOf(data.path)).not.toEqual([]);
    process.kill(-(dev.child.pid ?? 0), 'SIGINT');
    expect(await dev.stop('SIGINT')).toMatchObject({ code: 0 });
    expect([...servicesOf(data.path)]).toEqual([]);
    expect(processesOf(data.path)).toEqual([]);
  });
});

/** The domain's is the line of its README. The portal's build packs the client. */
const PACKING = {
  client: 'node packages/client/pack.js',
  domain: 'npm pack -w @adoption-store/domain --pack-destination',
};

it('the client and the domain, packed, run in Node by import and by require, and in Jest 30, as their READMEs show', async () => {
  const folder = await temporaryFolder();
  const modules = join(folder.path, 'node_modules');
  const run = (program: string, args: readonly string[], cwd = folder.path) => {
    const options = { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
    const { status, stdout, stderr } = spawnSync(program, args, options);
    return { status, stdout, stderr };
  };
  for (const name of ['client', 'domain'] as const) {
    const readme = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8');
    const file = /^npm install (?:\.|\/tmp)\/(.*)/m.exec(readme)?.[1] ?? '';
    const packing = PACKING[name].split(' ');
    expect(run(packing[0] ?? '', [...packing.slice(1), folder.path], ROOT)).toMatchObject({ status: 0 });
    const place = join(modules, '@adoption-store', name);
    await mkdir(place, { recursive: true });
    expect(run('tar', ['-xzf', join(folder.path, file), '-C', place, '--strip-components=1'])).toMatchObject({
      status: 0,
    });
  }
  // What a registry would add.
  for (const name of ['@swc', '@ungap', 'http-link-header', 'standardwebhooks'])
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  const program = `
    const answer = '[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]';
    const options = { baseUrl: 'https://api.example/v1', apiKey: 'aas_test', fetch: async () => new Response(answer) };
    const run = async () => {
      const { id } = await new AdoptionStore(options).pets.get(1n);
      const { name } = await createApplication(inMemoryPorts(), testPolicy()).addAnimal.execute({ name: 'Luna', categoryId: 1n });
      return id + ' ' + name;
    };`;
  const names = {
    client: '{ AdoptionStore }',
    domain: '{ createApplication }',
    'domain/testing': '{ inMemoryPorts, testPolicy }',
  };
  const load = (line: (what: string, from: string) => string) =>
    Object.entries(names)
      .map(([from, what]) => line(what, `'@adoption-store/${from}'`))
      .join('\n') + program;
  const required = load((what, from) => `const ${what} = require(${from});`);
  const imported = load((what, from) => `import ${what} from ${from};`);
  for (const [type, text] of [
    ['commonjs', required],
    ['module', imported],
  ] as const) {
    const args = [`--input-type=${type}`, '--eval', `${text}\nrun().then(console.log);`];
    expect(run(process.execPath, args)).toMatchObject({ status: 0, stdout: '9223372036854775807 Luna\n' });
  }
  const example = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(DOMAIN, 'README.md'), 'utf8'))?.[1] ?? '';
  const shown = `${example}\nconsole.log(animal.id, animal.status);`;
  expect(run(process.execPath, ['--input-type=module', '--eval', shown])).toMatchObject({ stdout: '1n available\n' });
  const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');
  writeFileSync(join(folder.path, 'jest.config.js'), /^```js\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '');
  const test = `test('both', async () => { expect(await run()).toBe('9223372036854775807 Luna'); });`;
  writeFileSync(join(folder.path, 'both.test.js'), `${required}\n${test}`);
  const { status, stderr } = run(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js')]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('1 passed') });
  await folder.remove();
});
