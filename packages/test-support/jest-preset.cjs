const preset = require('@adoption-store/tooling/jest');

/** The test preset of a workspace whose suites need a PostgreSQL: one server for the run, a database for each suite. */
module.exports = {
  ...preset,
  globalSetup: require.resolve('./src/global-setup.ts'),
  globalTeardown: require.resolve('./src/global-teardown.ts'),
  // It only ends a test that hangs: on a busy machine some need minutes.
  testTimeout: 600_000,
};
