import preset from '@adoption-store/tooling/jest';

export default {
  ...preset,
  globalSetup: './support/global-setup.ts',
  globalTeardown: './support/global-teardown.ts',
  testTimeout: 30_000,
};
