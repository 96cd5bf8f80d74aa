/**
 * `node test-totals.js FILE` prints the results that jest-totals.cjs added to the file: each failure, a line for each
 * run, and the sum last. It fails if a test failed, none passed, a test was skipped that isn't on the list, or a
 * workspace with tests reported nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../..');

/** Suites in which tests may be skipped, with the reason. All others must run completely. */
const maySkip = [
  // Some of its tests need root, which no hosted runner has.
  ...(process.getuid?.() === 0 ? [] : ['packages/embedded-postgres/src/embedded-postgres.spec.ts']),
];

const runs = readLines(process.argv[2]);
const silent = workspacesWithTests().filter((name) => !runs.some(({ workspace }) => workspace === name));
for (const run of runs) for (const failure of run.failures) console.log(`FAILED on Node.js ${run.node}: ${failure}\n`);
const skips = runs.flatMap((run) => run.skips).filter((skip) => !maySkip.some((file) => skip.includes(`/${file}: `)));
for (const skip of skips) console.log(`SKIPPED, and not on the list of packages/tooling/test-totals.js: ${skip}`);
for (const run of runs) console.log(`${run.workspace} on Node.js ${run.node}: ${inWords(run)}`);
for (const name of silent) console.log(`${name}: its tests have not run`);

const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
console.log(inWords(total));
process.exitCode = total.failed > 0 || total.passed === 0 || skips.length > 0 || silent.length > 0 ? 1 : 0;

function readLines(file) {
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
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

function sum(outcome) {
  return runs.reduce((total, run) => total + run[outcome], 0);
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
