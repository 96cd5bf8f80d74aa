import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, delimiter, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { findChromium, Running, temporaryFolder, until } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { killAll, processesOf, servicesOf } from '../support/process-list.js';

const ROOT = join(__dirname, '../..');
const BUILD = join(ROOT, 'packages/tooling/build.js');
const DOMAIN = join(ROOT, 'packages/domain');

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

describe('the build before a command', () => {
  let tree: Folder;

  beforeEach(async () => {
    tree = await temporaryFolder();
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
    const workspace = { name: '@adoption-store/cli', scripts: { build: 'mkdir -p dist && cat src/* >dist/program' } };
    write('package.json', JSON.stringify({ packageManager, workspaces: ['apps/*'] }));
    write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: {} }));
    write('tsconfig.base.json', '{}');
    write('turbo.json', JSON.stringify({ tasks: { build: { inputs: ['src/**'], outputs: ['dist/**'] } } }));
    write('packages/README.md', '');
    write('apps/cli/package.json', JSON.stringify(workspace));
    write('apps/cli/src/one', 'one');
    write('apps/cli/src/two', 'two');
    expect(build()).toEqual({ status: 0, stdout: '', stderr: '' });
  });
  afterEach(() => tree.remove());

  function write(path: string, content: string): void {
    mkdirSync(dirname(join(tree.path, path)), { recursive: true });
    writeFileSync(join(tree.path, path), content);
  }

  /** Runs the build like an npm script, with Turbo on its path unless another folder is given. */
  function build(programs = join(ROOT, 'node_modules/.bin')) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BUILD, 'cli'], {
      cwd: tree.path,
      encoding: 'utf8',
      env: {
        PATH: [programs, process.env['PATH']].join(delimiter),
        TURBO_TELEMETRY_DISABLED: '1',
        TURBO_CACHE_DIR: join(tree.path, 'node_modules/.cache/turbo'),
      },
    });
    // A slow machine is told why it waits.
    return { status, stdout, stderr: stderr.replace('Building what has changed …\n', '') };
  }

  function built(): string {
    return readFileSync(join(tree.path, 'apps/cli/dist/program'), 'utf8');
  }

  function change(): void {
    write('apps/cli/src/one', 'other');
    utimesSync(join(tree.path, 'apps/cli/src/one'), 0, 0);
  }

  it('prints nothing, and starts nothing if no file was changed', () => {
    expect(built()).toBe('onetwo');
    // Programs of the first build are newer than its start.
    expect(build()).toEqual({ status: 0, stdout: '', stderr: '' });
    write('programs/turbo', '#!/bin/sh\nexit 9\n');
    spawnSync('chmod', ['+x', join(tree.path, 'programs/turbo')]);
    const withoutTurbo = join(tree.path, 'programs');
    expect(build(withoutTurbo)).toEqual({ status: 0, stdout: '', stderr: '' });
    write('apps/cli/src/one', 'other');
    expect(build(withoutTurbo)).toMatchObject({ status: 9 });
  });

  it.each([
    ['a changed file, whatever its modification time', 'othertwo', change],
    [
      'a removed file',
      'two',
      () => {
        rmSync(join(tree.path, 'apps/cli/src/one'));
      },
    ],
    [
      'a deleted output',
      'onetwo',
      () => {
        rmSync(join(tree.path, 'apps/cli/dist'), { recursive: true });
      },
    ],
  ])('notices %s', (_what, program, act) => {
    act();
    expect(build()).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(built()).toBe(program);
  });

  it('reports a failure on standard error each time until it is fixed', () => {
    write(
      'apps/cli/package.json',
      JSON.stringify({ name: '@adoption-store/cli', scripts: { build: 'echo no; exit 3' } }),
    );
    for (const attempt of [1, 2]) {
      const { status, stdout, stderr } = build();
      expect({ attempt, failed: status !== 0, stdout }).toEqual({ attempt, failed: true, stdout: '' });
      expect(stderr).toMatch(/^@adoption-store\/cli:build: no$/m);
    }
  });
});

describe('npm run dev', () => {
  let tree: Folder;
  let data: Folder;
  let dev: Running;

  beforeAll(async () => {
    tree = await temporaryFolder();
    data = await temporaryFolder();
    await copyRepository(tree.path);
    dev = new Running(
      join(tree.path, 'packages/tooling/dev.js'),
      [],
      {
        DATA_DIR: data.path,
        PORT: '0',
        HOST: '127.0.0.1',
        PORTAL_PORT: '0',
        PORTAL_HOST: '127.0.0.1',
        WORKER_PORT: '0',
      },
      // In a process group of its own, as a terminal starts it.
      { cwd: tree.path, detached: true },
    );
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
    for (const part of ['apps', 'packages', 'tsconfig.base.json'])
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
    await until(async () => (await read(service, path)).includes(text), {
      what: `${text} at ${path} of the ${service}`,
    });
  }

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

describe('the domain, packed and installed elsewhere,', () => {
  const PACKAGE = 'node_modules/@adoption-store/domain';

  // A program like another app of the package: every port in memory, one use case after the other.
  const PROGRAM = `
  import { createApplication } from '@adoption-store/domain';
  import { inMemoryPorts } from '@adoption-store/domain/testing';
  const { addAnimal, listAnimals, openAccount, issueKey, authenticate } = createApplication(inMemoryPorts());
  await addAnimal.execute({ name: 'Luna', categoryId: 9223372036854775807n });
  const { items } = await listAnimals.execute();
  const account = await openAccount.execute({ email: 'dev@example.com' });
  const { text } = await issueKey.execute({ accountId: account.id });
  const { account: caller } = await authenticate.execute(text);
  const result = [items[0].name, items[0].categoryId, caller.email].join(' ');`;
  const RESULT = 'Luna 9223372036854775807 dev@example.com';

  let folder: Folder;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const npm = (args: string[], cwd: string) =>
      execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    const packed = npm(['pack', '--silent', '--pack-destination', folder.path], DOMAIN).trim();
    npm(['init', '--yes'], folder.path);
    npm(['install', '--offline', '--no-audit', join(folder.path, packed)], folder.path);
  });

  afterAll(() => folder.remove());

  it('has no dependencies', () => {
    const installed = execFileSync('ls', [join(folder.path, 'node_modules')], { encoding: 'utf8' });
    expect(installed.trim()).toBe('@adoption-store');
  });

  it('runs in plain Node', () => {
    const args = ['--input-type=module', '--eval', `${PROGRAM}\nconsole.log(result);`];
    expect(execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' })).toBe(`${RESULT}\n`);
  });

  it('runs the example of its README', () => {
    const readme = readFileSync(join(DOMAIN, 'README.md'), 'utf8');
    const example = /^```ts\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '';
    const args = ['--input-type=module', '--eval', `${example}\nconsole.log(animal.id, animal.name, animal.status);`];
    expect(execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' })).toBe('1n Luna available\n');
  });

  const chromium = findChromium();
  const inBrowser = chromium === undefined ? it.skip : it;
  if (chromium === undefined)
    console.warn('SKIPPED: the domain in a browser, for there is no Chromium on this machine');

  inBrowser('runs in a browser', async () => {
    const page = `<!doctype html><pre></pre>
    <script type="importmap">{"imports": {
      "@adoption-store/domain": "/${PACKAGE}/dist/index.js",
      "@adoption-store/domain/testing": "/${PACKAGE}/dist/testing/index.js"}}</script>
    <script type="module">${PROGRAM}\ndocument.querySelector('pre').textContent = result;</script>`;
    const server = createServer((request, response) => {
      const isScript = extname(request.url ?? '') === '.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? readFileSync(join(folder.path, request.url ?? '')) : page);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const profile = `--user-data-dir=${join(folder.path, 'chromium')}`;
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      profile,
      '--virtual-time-budget=5000',
    ];
    const address = `http://127.0.0.1:${port}/`;
    const { stdout } = await promisify(execFile)(chromium ?? '', [...flags, '--dump-dom', address]);
    server.close();
    expect(stdout).toContain(`<pre>${RESULT}</pre>`);
  });
});
