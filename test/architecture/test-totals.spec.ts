import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';
import { repository } from './trees.js';

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function workspacesWithTests(): readonly string[] {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(repository, parent)).map((name) => join(parent, name)),
  );
  return [...folders, 'test']
    .map((folder) => JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8')) as Manifest)
    .filter(({ scripts }) => scripts?.['test'] !== undefined)
    .map(({ name }) => name);
}

/** CI's total for a run with these skips in which every workspace has run. */
function sumWith(skips: readonly string[]): { status: number | null; stdout: string } {
  const file = join(folder.path, 'totals');
  const names = workspacesWithTests();
  const run = { node: 'v20', passed: 1, failed: 0, failures: [] };
  const lines = names.map((name, index) => {
    const own = index === 0 ? skips : [];
    return JSON.stringify({ ...run, workspace: name, skipped: own.length, skips: own });
  });
  writeFileSync(file, lines.join('\n'));
  const program = join(repository, 'packages/tooling/test-totals.js');
  return spawnSync(process.execPath, [program, file], { encoding: 'utf8' });
}

it('CI passes without skips', () => {
  expect(sumWith([])).toMatchObject({ status: 0 });
});

it('CI fails on a skip that is not on its list, and names it', () => {
  const { status, stdout } = sumWith(['/repo/test/e2e/pets.spec.ts: a pet is there']);
  expect(stdout).toContain('/repo/test/e2e/pets.spec.ts: a pet is there');
  expect(status).toBe(1);
});

it('Jest reports its skipped tests', () => {
  const totals = join(folder.path, 'of-jest');
  const suite = join(folder.path, 'skips.spec.js');
  writeFileSync(suite, "it('runs', () => {}); it.skip('is skipped', () => {}); it.todo('is to be written');");
  writeFileSync(join(folder.path, 'jest.config.json'), '{}');
  const jest = join(repository, 'node_modules/jest/bin/jest.js');
  const reporter = join(repository, 'packages/tooling/jest-totals.cjs');
  spawnSync(process.execPath, [jest, '--rootDir', folder.path, '--reporters', reporter], {
    env: { ...process.env, TEST_TOTALS: totals },
    cwd: folder.path,
  });
  expect(JSON.parse(readFileSync(totals, 'utf8'))).toMatchObject({
    passed: 1,
    skipped: 2,
    skips: [`${suite}: is skipped`, `${suite}: is to be written`],
  });
});
