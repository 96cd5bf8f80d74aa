import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '@adoption-store/test-support';
import { repository, run as output } from './trees.js';

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** A line that Jest's reporter adds for a run of a workspace. */
interface Run {
  readonly workspace: string;
  readonly node: string;
  readonly isAgain: boolean;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly skips: readonly string[];
  readonly failures: readonly string[];
  readonly suites: readonly { readonly file: string; readonly seconds: number }[];
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let shares: Readonly<Record<string, number>>;
let budget: number;
let atOnce: number;
beforeAll(async () => {
  folder = await temporaryFolder();
  ({
    shares,
    BUDGET: budget,
    AT_ONCE: atOnce,
  } = await tooling<{ shares: typeof shares; BUDGET: number; AT_ONCE: number }>('test-shares.js'));
});
afterAll(() => folder.remove());

const TOOLING = join(repository, 'packages/tooling');
const API = '@adoption-store/api';

const workspacesWithTests = [
  ...['packages', 'apps'].flatMap((parent) => readdirSync(join(repository, parent)).map((name) => join(parent, name))),
  'test',
]
  .map((name) => JSON.parse(readFileSync(join(repository, name, 'package.json'), 'utf8')) as Manifest)
  .filter(({ scripts }) => scripts?.['test'] !== undefined)
  .map(({ name }) => name);

/** A run of every workspace, in which each takes so many times its share. */
function everyRun(slowness = 1): readonly Run[] {
  return workspacesWithTests.map((workspace) => ({
    workspace,
    node: 'v20',
    isAgain: false,
    seconds: (shares[workspace] ?? 0) * slowness,
    passed: 10,
    failed: 0,
    skipped: 0,
    skips: [],
    failures: [],
    suites: [{ file: join(repository, `${workspace}.spec.ts`), seconds: (shares[workspace] ?? 0) * slowness }],
  }));
}

/** The values of a module of the tooling, which is ESM, where Jest runs CommonJS. */
async function tooling<Values>(file: string): Promise<Values> {
  const program = `console.log(JSON.stringify(await import('${join(TOOLING, file)}')))`;
  return JSON.parse(await output(process.execPath, ['--input-type=module', '-e', program], repository)) as Values;
}

/** The output and exit code of CI for these runs. */
function sumOf(runs: readonly Run[]): { status: number | null; stdout: string; sum: string } {
  const file = join(folder.path, 'totals');
  writeFileSync(file, runs.map((run) => JSON.stringify(run)).join('\n'));
  const { status, stdout } = spawnSync(process.execPath, [join(TOOLING, 'test-totals.js'), file], { encoding: 'utf8' });
  return { status, stdout, sum: stdout.trim().split('\n').at(-1) ?? '' };
}

const changed = (runs: readonly Run[], change: Partial<Run>): readonly Run[] =>
  runs.map((run) => (run.workspace === API ? { ...run, ...change } : run));

it('CI passes without skips', async () => {
  expect(sumOf(everyRun())).toMatchObject({ status: 0 });
});

it('CI fails if a workspace with tests reported nothing', async () => {
  const { status, stdout } = sumOf(everyRun().filter(({ workspace }) => workspace !== API));
  expect(stdout).toContain(`${API}: its tests have not run`);
  expect(status).toBe(1);
});

describe('a skip', () => {
  it('CI fails on a skip that is not on its list, and names it', async () => {
    const skips = ['/repo/apps/api/test/pets.spec.ts: a pet is there'];
    const { status, stdout } = sumOf(changed(everyRun(), { skipped: 1, skips }));
    expect(stdout).toContain('/repo/apps/api/test/pets.spec.ts: a pet is there');
    expect(status).toBe(1);
  });

  it('each that is on the list has a reason, and a suite that is there', async () => {
    const { allowedSkips } = await tooling<{
      allowedSkips: readonly { readonly suite: string; readonly reason: string; readonly isAllowed: boolean }[];
    }>('allowed-skips.js');
    for (const { suite, reason, isAllowed } of allowedSkips) {
      expect(reason).toMatch(/\w+ .*\.$/);
      expect(existsSync(join(repository, suite))).toBe(true);
      const skips = [`${repository}/${suite}: is skipped`];
      expect(sumOf(changed(everyRun(), { skipped: 1, skips })).status).toBe(isAllowed ? 0 : 1);
    }
  });
});

describe('tests that run again', () => {
  const again = { isAgain: true, node: 'v26' };

  it('are not counted twice', async () => {
    const runs = everyRun();
    const { status, sum } = sumOf([...runs, ...runs.map((run) => ({ ...run, ...again }))]);
    expect({ status, sum }).toEqual({ status: 0, sum: `${runs.length * 10} passed, 0 failed, 0 skipped` });
  });

  it('fail CI where one fails', async () => {
    const runs = everyRun();
    const failing = runs.slice(0, 1).map((run) => ({ ...run, ...again, passed: 9, failed: 1, failures: ['it broke'] }));
    const { status, stdout, sum } = sumOf([...runs, ...failing]);
    expect({ status, sum }).toEqual({ status: 1, sum: `${runs.length * 10} passed, 1 failed, 0 skipped` });
    expect(stdout).toContain('FAILED on Node.js v26: it broke');
  });

  it('do not stand for their first run', async () => {
    expect(sumOf(everyRun().map((run) => ({ ...run, ...again }))).status).toBe(1);
  });
});

describe('the time that tests take', () => {
  it('is shared out to the workspaces, which run so many at a time, and stays within the budget', () => {
    expect(Object.keys(shares).sort()).toEqual([...workspacesWithTests].sort());
    expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(budget * atOnce);
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Manifest;
    expect(scripts?.['test']).toMatch(new RegExp(`--concurrency=${atOnce}$`));
  });

  it('of the ten slowest suites is shown, the slowest first', async () => {
    const suites = Array.from({ length: 12 }, (_, index) => ({
      file: join(repository, `s${index}`),
      seconds: 900 + index,
    }));
    const { stdout } = sumOf(changed(everyRun(), { suites }));
    const shown = [...stdout.matchAll(/^(\d+)\.0 s: s(\d+)$/gm)].map(([, , index]) => Number(index));
    expect(shown).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  });

  it.each(workspacesWithTests)('fails CI where it is four times the share of %s', async (workspace) => {
    const grown = everyRun().map((run) => (run.workspace === workspace ? { ...run, seconds: run.seconds * 4 } : run));
    const { status, stdout } = sumOf(grown);
    expect(stdout).toContain(`TOO SLOW: ${workspace}: its tests took`);
    expect(status).toBe(1);
  });

  it('does not fail CI where the machine is five times as slow for all', async () => {
    expect(sumOf(everyRun(5)).status).toBe(0);
  });
});

describe('Jest', () => {
  function jest(name: string, suite: string): { status: number | null; file: string; totals: Run } {
    const root = join(folder.path, name);
    mkdirSync(root);
    const [file, totals] = [join(root, `${name}.spec.js`), join(root, 'totals')];
    writeFileSync(file, suite);
    writeFileSync(join(root, 'jest.config.json'), '{}');
    const program = join(repository, 'node_modules/jest/bin/jest.js');
    const args = [program, '--rootDir', root, '--reporters', join(TOOLING, 'jest-totals.cjs')];
    const env = { ...process.env, TEST_TOTALS: totals, TEST_AGAIN: '' };
    const { status } = spawnSync(process.execPath, args, { env, cwd: root });
    return { status, file, totals: JSON.parse(readFileSync(totals, 'utf8')) as Run };
  }

  it('Jest reports its skipped tests', () => {
    const { file, totals } = jest(
      'skips',
      "it('runs', () => {}); it.skip('is skipped', () => {}); it.todo('is to be written');",
    );
    expect(totals).toMatchObject({
      isAgain: false,
      passed: 1,
      skipped: 2,
      skips: [`${file}: is skipped`, `${file}: is to be written`],
      suites: [{ file, seconds: expect.any(Number) }],
      seconds: expect.any(Number),
    });
  });

  it('reports a suite that fails outside its tests as a failure with its reason', () => {
    const suite = "afterAll(() => { throw new Error('the log has a defect'); }); it('passes', () => {});";
    const { status, file, totals } = jest('after-all', suite);
    expect(status).toBe(1);
    expect(totals).toMatchObject({ passed: 1, failed: 1, failures: [expect.stringContaining('the log has a defect')] });
    expect(totals.failures[0]).toContain(file);
  });

  it('a focused test fails CI: all others of its file are skipped', async () => {
    const { file, totals } = jest('focused', "it.only('runs', () => {}); it('is left out', () => {});");
    const { skipped, skips } = totals;
    const { status, stdout } = sumOf(changed(everyRun(), { skipped, skips }));
    expect(stdout).toContain(`${file}: is left out`);
    expect(status).toBe(1);
  });
});
