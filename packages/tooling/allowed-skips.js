/** Suites of which tests may be skipped in CI, each with its reason. Everything else has to run. */
export const allowedSkips = [
  {
    suite: 'packages/embedded-postgres/src/embedded-postgres.spec.ts',
    reason: 'As root alone, which no hosted runner is, can a test start PostgreSQL as another user.',
    isAllowed: process.getuid?.() !== 0,
  },
];
