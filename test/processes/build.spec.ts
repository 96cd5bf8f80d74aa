import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';

const repository = join(__dirname, '../..');
const BUILD = join(repository, 'packages/tooling/build.js');

let tree: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  tree = await temporaryFolder();
  const { packageManager } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
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
function build(programs = join(repository, 'node_modules/.bin')) {
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

describe('the build before a command', () => {
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
