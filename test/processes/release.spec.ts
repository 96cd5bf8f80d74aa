import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const ROOT = join(__dirname, '../..');
const [MAJOR, MINOR, PATCH] = [0, 1, 2];
const FOLDERS = { apps: '.', client: 'packages/client', domain: 'packages/domain' };
type Name = keyof typeof FOLDERS;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let copy: string;

// A repository of its own, because a checkout may belong to another user, or have no .git. In it each build and check
// only passes: the suites of the packages prove them.
beforeAll(async () => {
  folder = await temporaryFolder();
  copy = join(folder.path, 'copy');
  mkdirSync(copy);
  git('init', '--quiet', '--initial-branch=main');
  git('--work-tree', ROOT, 'add', '--all');
  git('checkout-index', '--all');
  for (const path of git('ls-files', 'package.json', '*/package.json').split('\n'))
    change(path, /"(build|lint|test)": ".*"/g, (_line, name = '') =>
      path === 'apps/portal/package.json' && name === 'build'
        ? '"build": "node ../../packages/client/pack.js dist"'
        : `"${name}": "true"`,
    );
  git('commit', '--quiet', '--all', '--message=test: builds and checks that pass');
  git('init', '--quiet', '--bare', '../origin');
  git('remote', 'add', 'origin', '../origin');
});

afterAll(() => folder.remove());

it('the apps are not released before the client that the portal serves', () => {
  expect(release('apps', versionOf('apps'))).toContain(`its tag client-v${versionOf('client')} is missing`);
});

it('the client, the domain and the apps are released apart: their version everywhere, a commit and a tag, nothing pushed', () => {
  const [firstClient, firstApps] = [versionOf('client'), versionOf('apps')];
  expect(release('client', firstClient)).toContain(`origin main client-v${firstClient}\n`);
  for (const [name, part, beginning] of [
    ['client', PATCH, 'client-v'],
    ['domain', MAJOR, 'domain-v'],
    ['apps', PATCH, 'v'],
  ] as const) {
    const before = versionOf(name);
    const version = next(before, part);
    addSection(name, version);
    expect(release(name, version)).toContain(`git push --atomic origin main ${beginning}${version}\n`);
    expect(git('log', '-1', '--format=%s', beginning + version)).toBe(`build(${name}): release ${version}`);
    expect([versionOf(name), git('status', '--porcelain')]).toEqual([version, '']);
    expect(filesNaming(before, name)).toEqual([]);
  }
  expect(git('ls-remote', 'origin')).toBe('');

  const client = versionOf('client');
  const tarball = readFileSync(join(copy, `apps/portal/dist/adoption-store-client-${client}.tgz`));
  const hash = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  expect(JSON.parse(read('packages/client/versions.json'))).toHaveProperty([client], hash);
  expect(read('docker/Dockerfile')).toContain(`ARG VERSION=${next(firstApps, PATCH)}\n`);
  // A range changes with the major version alone.
  expect(read('test/package.json')).toContain(`"@adoption-store/client": "^${firstClient}"`);
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
  writeFileSync(join(copy, 'left'), '');
  expect(release('client', version)).toBe('Commit or stash your changes first; git status lists them.\n');
  git('clean', '--quiet', '--force', 'left');
  git('switch', '--quiet', '--create', 'other');
  expect(release('client', version)).toBe('Releases are made on main, and this is other.\n');
  git('switch', '--quiet', 'main');
});

it('a check that fails leaves the files, the commits and the tags as they were', () => {
  const version = next(versionOf('client'), PATCH);
  addSection('client', version);
  change('packages/client/package.json', /"lint": "true"/, () => '"lint": "false"');
  git('commit', '--quiet', '--all', '--message=test: a check that fails');
  const before = state();
  expect(release('client', version)).toContain('Nothing is released, and the files are as before.');
  expect(state()).toBe(before);
});

/** The standard output of a release, or the standard error of one that fails. */
function release(...args: readonly string[]): string {
  const { status, stdout, stderr } = run(process.execPath, ['packages/tooling/release.js', ...args]);
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
    HOME: folder.path,
    TURBO_CACHE_DIR: join(folder.path, 'turbo'),
    TURBO_TELEMETRY_DISABLED: '1',
    // In a new home it asks the registry at every call.
    npm_config_update_notifier: 'false',
  };
  return spawnSync(program, args, { cwd: copy, encoding: 'utf8', env });
}

function state(): string {
  return [git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')].join('\n');
}

/** Commits the version's section of the changelog. */
function addSection(name: Name, version: string): void {
  const changelog = `${name === 'apps' ? '.github' : FOLDERS[name]}/CHANGELOG.md`;
  change(changelog, /^## \[/m, (heading) => `## [${version}] - 2026-12-01\n\n- Repairs.\n\n${heading}`);
  git('commit', '--quiet', '--all', `--message=docs: ${version}`);
}

/** Files that still name the former version: no histories, ranges, examples and tests. */
function filesNaming(version: string, name: Name): string[] {
  const pattern = `(^|[^0-9.^])${version.replaceAll('.', '\\.')}([^0-9.]|\\.[^0-9]|$)`;
  const others = [
    '*CHANGELOG.md',
    '*DECISIONS.md',
    '*.spec.ts',
    '*versions.json',
    'docker/upgrade.md',
    'package-lock.json',
  ];
  // The schema's history names the versions that it came with.
  others.push('packages/infrastructure/src', 'packages/infrastructure/test');
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
  writeFileSync(join(copy, path), read(path).replace(pattern, to));
}

function read(path: string): string {
  return readFileSync(join(copy, path), 'utf8');
}
