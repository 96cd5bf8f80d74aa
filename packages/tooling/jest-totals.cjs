const { appendFileSync } = require('node:fs');

/** Jest reporter: adds this run's totals and what failed, a line of JSON, to the file that TEST_TOTALS names. */
module.exports = class JestTotals {
  onRunComplete(_contexts, results) {
    const totals = {
      // npm's, for it is npm that runs Jest in each workspace.
      workspace: process.env.npm_package_name ?? process.cwd(),
      node: process.version,
      passed: results.numPassedTests,
      // A suite that couldn't be run is a failure without a failed test.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      skips: results.testResults.flatMap((suite) =>
        suite.testResults
          .filter(({ status }) => status === 'pending' || status === 'todo')
          .map(({ fullName }) => `${suite.testFilePath}: ${fullName}`),
      ),
      failures: results.testResults.flatMap((suite) => [
        ...(suite.testExecError ? [`${suite.testFilePath}: ${suite.testExecError.message}`] : []),
        ...suite.testResults.filter(({ status }) => status === 'failed').map(inWords(suite)),
      ]),
    };
    appendFileSync(process.env.TEST_TOTALS, `${JSON.stringify(totals)}\n`);
  }
};

const inWords =
  ({ testFilePath }) =>
  ({ fullName, failureMessages }) =>
    `${testFilePath}: ${fullName}\n${failureMessages.join('\n')}`;
