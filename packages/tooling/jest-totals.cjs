/**
 * A Jest reporter that adds a run's totals to the file that TEST_TOTALS names, a line of JSON for each run. Run as a program,
 * it prints the sum, and fails unless every test passed.
 */
const { appendFileSync, existsSync, readFileSync } = require('node:fs');

const file = process.env.TEST_TOTALS;

module.exports = class JestTotals {
  onRunComplete(_contexts, results) {
    const notPassed = results.testResults.flatMap((suite) =>
      suite.testResults
        .filter(({ status }) => status !== 'passed')
        .map(({ status, fullName }) => `${status}: ${suite.testFilePath}: ${fullName}`),
    );
    const totals = {
      // Whether these tests have run before, on another version of Node.js or PostgreSQL.
      isAgain: process.env.TEST_AGAIN === 'true',
      passed: results.numPassedTests,
      // A suite that couldn't be run is a failure without a failed test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      notPassed,
    };
    appendFileSync(file, `${JSON.stringify(totals)}\n`);
  }
};

if (require.main === module) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const runs = lines.map((line) => JSON.parse(line));
  for (const name of runs.flatMap(({ notPassed }) => notPassed)) console.log(name);
  // A test that has run on several versions counts once, but each of its failures counts.
  const sum = (outcome, among) => among.reduce((total, run) => total + run[outcome], 0);
  const first = runs.filter(({ isAgain }) => !isAgain);
  const [passed, failed, skipped] = [sum('passed', first), sum('failed', runs), sum('skipped', first)];
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = passed > 0 && failed + skipped === 0 ? 0 : 1;
}
