import preset from '@adoption-store/test-support/jest';

export default {
  ...preset,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  globals: { migrations: '@adoption-store/infrastructure/testing' },
};
