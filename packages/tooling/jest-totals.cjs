const { appendFileSync } = require('node:fs');

/** Jest reporter: adds this run's totals, times and what failed, a line of JSON, to the file that TEST_TOTALS names. */
module.exports = class JestTotals {
  onRunComplete(_contexts, results) {
    const suites = results.testResults;
    const totals = {
      // npm's, for it is npm that runs Jest in each workspace.
      workspace: process.env.npm_package_name ?? process.cwd(),
      node: process.version,
      // Whether these tests have run before: on another version of Node.js or PostgreSQL.
      isAgain: process.env.TEST_AGAIN === 'true',
      seconds: (Date.now() - results.startTime) / 1000,
      passed: results.numPassedTests,
      // A suite that couldn't be run is a failure without a failed test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      skips: suites.flatMap((suite) =>
        suite.testResults
          .filter(({ status }) => status === 'pending' || status === 'todo')
          .map(({ fullName }) => `${suite.testFilePath}: ${fullName}`),
      ),
      failures: suites.flatMap((suite) => [
        // Its own message is empty if an afterAll failed.
        ...(suite.testExecError ? [`${suite.testFilePath}: ${suite.failureMessage}`] : []),
        ...suite.testResults.filter(({ status }) => status === 'failed').map(inWords(suite)),
      ]),
      suites: suites.map(({ testFilePath, perfStats }) => ({ file: testFilePath, seconds: perfStats.runtime / 1000 })),
    };
    appendFileSync(process.env.TEST_TOTALS, `${JSON.stringify(totals)}\n`);
  }
};

const inWords =
  ({ testFilePath }) =>
  ({ fullName, failureMessages }) =>
    `${testFilePath}: ${fullName}\n${failureMessages.join('\n')}`;
