import shared from '@adoption-store/tooling/stryker';

/** The code whose mistakes would lose or add requests and orders. */
const mutate = [
  'src/orders/typeorm-order-repository.ts',
  'src/limits/create-request-counter.ts',
  'src/limits/fallback-request-counter.ts',
  'src/limits/in-process-request-counter.ts',
  'src/limits/postgres-counts-store.ts',
  'src/limits/redis-request-counter.ts',
];

/** Its suites. Those of other adapters would only make each of hundreds of runs slower. */
const testMatch = ['test/limits*.spec.ts', 'test/orders.spec.ts'];

export default {
  ...shared,
  mutate,
  jest: { config: { testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`) } },
};
