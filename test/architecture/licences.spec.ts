import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { repository } from './trees.js';

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(repository, 'packages/tooling/licences.js'), ...args], { encoding: 'utf8' });

it('every installed package has an allowed licence', () => {
  expect(run()).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^MIT\tfastify 5\.\d+\.\d+$/m) });
});

it('names the packages without an allowed licence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'licences-'));
  const licences = ['MIT', 'GPL-3.0', '(MIT OR GPL-3.0)', 'MIT AND GPL-3.0', undefined];
  const packages = licences.map((license, index) => [`node_modules/p${index}`, { version: '1.0.0', license }] as const);
  const lockfile = join(folder, 'package-lock.json');
  writeFileSync(lockfile, JSON.stringify({ packages: Object.fromEntries(packages) }));
  const { status, stderr } = run(lockfile);
  rmSync(folder, { recursive: true });
  expect({ status, refused: [...stderr.matchAll(/^p\d/gm)].map(String) }).toEqual({
    status: 1,
    refused: ['p1', 'p3', 'p4'],
  });
});
