/**
 * `node test-totals.js FILE` prints the results that jest-totals.cjs added to the file: each failure, the slowest suites, a
 * line for each run, and the sum last. It fails if a test failed, none passed, a test was skipped that isn't in
 * allowed-skips.js, a workspace took more than its share of test-shares.js, or a workspace with tests reported nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { allowedSkips } from './allowed-skips.js';
import { overShare } from './test-shares.js';

const SLOWEST = 10;
const repository = join(import.meta.dirname, '../..');

const runs = readLines(process.argv[2]);
const first = runs.filter(({ isAgain }) => !isAgain);
const silent = workspacesWithTests().filter((name) => !first.some(({ workspace }) => workspace === name));
const maySkip = allowedSkips.filter(({ isAllowed }) => isAllowed).map(({ suite }) => `/${suite}: `);
const skips = runs.flatMap((run) => run.skips).filter((skip) => !maySkip.some((suite) => skip.includes(suite)));
const slow = overShare(first);

for (const run of runs) for (const failure of run.failures) console.log(`FAILED on Node.js ${run.node}: ${failure}\n`);
for (const skip of skips) console.log(`SKIPPED, and not in packages/tooling/allowed-skips.js: ${skip}`);
for (const { file, seconds } of slowest()) console.log(`${seconds.toFixed(1)} s: ${relative(repository, file)}`);
for (const run of runs)
  console.log(
    `${run.workspace} on Node.js ${run.node}${run.isAgain ? ', again' : ''}: ${inWords(run)} in ${Math.round(run.seconds)} s`,
  );
for (const sentence of slow) console.log(`TOO SLOW: ${sentence}`);
for (const name of silent) console.log(`${name}: its tests have not run`);

// Each test once, however many versions it has run on; a failure on any of them is one.
const total = { passed: sum(first, 'passed'), failed: sum(runs, 'failed'), skipped: sum(first, 'skipped') };
console.log(inWords(total));
const isWrong = [total.failed > 0, total.passed === 0, skips.length > 0, slow.length > 0, silent.length > 0];
process.exitCode = isWrong.includes(true) ? 1 : 0;

function readLines(file) {
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function slowest() {
  const suites = first.flatMap((run) => run.suites);
  return suites.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
}

function workspacesWithTests() {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(repository, parent)).map((name) => join(parent, name)),
  );
  return [...folders, 'test']
    .map((folder) => join(repository, folder, 'package.json'))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')))
    .filter(({ scripts }) => scripts?.test !== undefined)
    .map(({ name }) => name);
}

function sum(counted, outcome) {
  return counted.reduce((total, run) => total + run[outcome], 0);
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
