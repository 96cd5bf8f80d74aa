/**
 * The settings of every workspace's mutation run: a workspace adds the files that are mutated.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  coverageAnalysis: 'perTest',
  mutate: ['src/**/*.ts', '!src/**/*.spec.ts', '!src/testing/**'],
  // A changed text is rarely a broken rule. Tests compare the codes and keys that matter.
  mutator: { excludedMutations: ['StringLiteral'] },
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { reportTests: false, allowColor: false },
  concurrency: 2,
  tempDirName: '.stryker/tmp',
  htmlReporter: { fileName: '.stryker/report.html' },
  jsonReporter: { fileName: '.stryker/report.json' },
};
