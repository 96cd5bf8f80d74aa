import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const ROOT = join(__dirname, '../..');
const RELEASE = 'packages/tooling/release.js';
const [MAJOR, MINOR, PATCH] = [0, 1, 2];
const FOLDERS = { apps: '.', client: 'packages/client', domain: 'packages/domain' };
type Name = keyof typeof FOLDERS;

let clone: Awaited<ReturnType<typeof temporaryFolder>>;

// In this clone each build and check only passes: the suites of the packages prove them.
beforeAll(async () => {
  clone = await temporaryFolder();
  git('clone', '--quiet', '--no-tags', ROOT, '.');
  git('checkout', '--quiet', '-B', 'main');
  copyFileSync(join(ROOT, RELEASE), join(clone.path, RELEASE));
  for (const path of git('ls-files', 'package.json', '*/package.json').split('\n'))
    change(path, /"(build|lint|test)": ".*"/g, (_line, name = '') =>
      path === 'apps/portal/package.json' && name === 'build'
        ? '"build": "node ../../packages/client/pack.js dist"'
        : `"${name}": "true"`,
    );
  git('commit', '--quiet', '--all', '--message=test: builds and checks that pass');
});

afterAll(() => clone.remove());

it('the apps are not released before the client that the portal serves', () => {
  expect(release('apps', versionOf('apps'))).toContain(`its tag client-v${versionOf('client')} is missing`);
});

it('the client, the domain and the apps are released apart: their version everywhere, a commit and a tag, nothing pushed', () => {
  const remote = git('ls-remote', 'origin');
  const apps = versionOf('apps');
  expect(release('client', versionOf('client'))).toContain(`origin main client-v${versionOf('client')}\n`);
  for (const [name, part, beginning] of [
    ['client', PATCH, 'client-v'],
    ['domain', MINOR, 'domain-v'],
    ['domain', MAJOR, 'domain-v'],
    ['apps', PATCH, 'v'],
  ] as const) {
    const before = versionOf(name);
    const version = next(before, part);
    add(name, version);
    expect(release(name, version)).toContain(`git push --atomic origin main ${beginning}${version}\n`);
    expect(git('log', '-1', '--format=%s', beginning + version)).toBe(`build(${name}): release ${version}`);
    expect([versionOf(name), git('status', '--porcelain')]).toEqual([version, '']);
    expect(filesNaming(before, name)).toEqual([]);
  }
  expect(git('ls-remote', 'origin')).toBe(remote);

  const client = versionOf('client');
  const tarball = readFileSync(join(clone.path, `apps/portal/dist/adoption-store-client-${client}.tgz`));
  const hash = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  expect(JSON.parse(read('packages/client/versions.json'))).toHaveProperty([client], hash);
  expect(read('docker/Dockerfile')).toContain(`ARG VERSION=${next(apps, PATCH)}\n`);
  expect(read('packages/infrastructure/package.json')).toContain(`"@adoption-store/domain": "^${versionOf('domain')}"`);
  // Otherwise a release of the domain would change the client's bytes.
  expect(git('log', '-1', '--format=%s', '--', 'packages/client/package.json')).toBe(
    `build(client): release ${client}`,
  );
});

it('is refused with a sentence, and changes nothing: wrong words, a version that exists, skips one, or has no section', () => {
  const client = versionOf('client');
  const patch = next(client, PATCH);
  const skipping = next(patch, PATCH);
  const before = state();
  expect(release('portal', patch)).toMatch(/^Usage: /);
  expect(release('client', 'next')).toMatch(/^Usage: /);
  expect(release('client', client)).toBe(`${client} has been released: the tag client-v${client} exists.\n`);
  const choice = `${patch}, ${next(client, MINOR)}, ${next(client, MAJOR)}`;
  expect(release('client', skipping)).toBe(`The next version is one of ${choice}, not ${skipping}.\n`);
  expect(release('client', patch)).toContain(`needs a section "## [${patch}] - YYYY-MM-DD"`);
  expect(state()).toBe(before);
});

it('is refused beside uncommitted changes, and on another branch', () => {
  const version = next(versionOf('client'), PATCH);
  writeFileSync(join(clone.path, 'left'), '');
  expect(release('client', version)).toBe('Commit or stash your changes first; git status lists them.\n');
  git('clean', '--quiet', '--force', 'left');
  git('switch', '--quiet', '--create', 'other');
  expect(release('client', version)).toBe('Releases are made on main, and this is other.\n');
  git('switch', '--quiet', 'main');
});

it('a check that fails leaves the files, the commits and the tags as they were', () => {
  const version = next(versionOf('client'), PATCH);
  add('client', version);
  change('packages/client/package.json', /"lint": "true"/, () => '"lint": "false"');
  git('commit', '--quiet', '--all', '--message=test: a check that fails');
  const before = state();
  expect(release('client', version)).toContain('Nothing is released, and the files are as before.');
  expect(state()).toBe(before);
});

/** What it prints on standard error; of a release that succeeds its last lines. */
function release(...args: readonly string[]): string {
  const { status, stdout, stderr } = run(process.execPath, [RELEASE, ...args]);
  return status === 0 ? stdout : stderr;
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = run('git', args);
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function run(program: string, args: readonly string[]) {
  const env = {
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    HOME: join(clone.path, 'node_modules'),
    TURBO_CACHE_DIR: join(clone.path, 'node_modules/.cache/turbo'),
    TURBO_TELEMETRY_DISABLED: '1',
  };
  return spawnSync(program, args, { cwd: clone.path, encoding: 'utf8', env });
}

function state(): string {
  return [git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')].join('\n');
}

/** Adds the version's section to the changelog. */
function add(name: Name, version: string): void {
  const changelog = `${name === 'apps' ? '.github' : FOLDERS[name]}/CHANGELOG.md`;
  change(changelog, /^## \[/m, (heading) => `## [${version}] - 2026-12-01\n\n- Repairs.\n\n${heading}`);
  git('commit', '--quiet', '--all', `--message=docs: ${version}`);
}

/** Files that still name the former version: no histories, ranges, examples and tests. */
function filesNaming(version: string, name: Name): string[] {
  const pattern = `(^|[^0-9.^])${version.replaceAll('.', '\\.')}([^0-9.]|\\.[^0-9]|$)`;
  const others = [
    '*CHANGELOG.md',
    '*.spec.ts',
    '*versions.json',
    '*/baseline/*',
    'docker/upgrade.md',
    'package-lock.json',
  ];
  if (name === 'apps') others.push('packages/client', 'packages/domain', '.github/CONTRIBUTING.md');
  const found = run('git', ['grep', '-lE', pattern, '--', FOLDERS[name], ...others.map((path) => `:!${path}`)]);
  return found.stdout.split('\n').filter((path) => path !== '');
}

function versionOf(name: Name): string {
  return (JSON.parse(read(`${FOLDERS[name]}/package.json`)) as { version: string }).version;
}

function next(version: string, part: number): string {
  const numbers = version.split('.').map(Number);
  return numbers.map((number, place) => (place < part ? number : place === part ? number + 1 : 0)).join('.');
}

function change(path: string, pattern: RegExp, to: (...match: string[]) => string): void {
  writeFileSync(join(clone.path, path), read(path).replace(pattern, to));
}

function read(path: string): string {
  return readFileSync(join(clone.path, path), 'utf8');
}
