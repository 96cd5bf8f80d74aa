import shared from '@adoption-store/tooling/stryker';

/** The code whose mistakes would lose or add requests and orders. */
const mutate = [
  'src/orders/typeorm-order-repository.ts',
  'src/quotas/create-request-counter.ts',
  'src/quotas/expiring-map.ts',
  'src/quotas/fallback-request-counter.ts',
  'src/quotas/in-process-request-counter.ts',
  'src/quotas/postgres-counts-store.ts',
  'src/quotas/redis-request-counter.ts',
];

/** Its suites. Those of other adapters would only make each of hundreds of runs slower. */
const testMatch = ['test/limits*.spec.ts', 'test/orders.spec.ts'];

export default {
  ...shared,
  mutate,
  jest: { config: { testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`) } },
};
