import preset from '@adoption-store/test-support/jest';

export default {
  ...preset,
  globals: { migrations: '@adoption-store/infrastructure/testing' },
  // Many of these suites wait for processes. With two workers, two cores were busy half of the time.
  maxWorkers: 3,
};
