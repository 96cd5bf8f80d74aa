import preset from '@adoption-store/tooling/jest';

export default {
  ...preset,
  globalSetup: './support/global-setup.ts',
  globalTeardown: './support/global-teardown.ts',
  testTimeout: 30_000,
  // Jest leaves a core to others; the suites of processes mostly wait. On two cores: 294 s instead of 473.
  maxWorkers: '100%',
};
