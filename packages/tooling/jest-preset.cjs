const { availableParallelism } = require('node:os');

/**
 * The test preset. Nest 12 is ESM-only and its throttler CommonJS, so our TypeScript, the ESM-only
 * dependencies and what imports them are compiled to CommonJS for Jest; the workspace's packages are read from their sources.
 */
const compiledDependencies = [
  '@fastify/cookie',
  '@nestjs',
  '@tokenizer',
  '@ungap/raw-json',
  'ansis',
  'content-disposition',
  'cookie',
  'file-type',
  'load-esm',
  'strtok3',
  'token-types',
  'uid',
  'uint8array-extras',
];

/**
 * What `npm run test:system` runs and `npm test` leaves to it: several processes, faults, hostile input, browsers, Redis, a
 * pooler. The one exception is a start of everything. Jest without TEST_PART runs both.
 */
const SYSTEM = ['**/{processes,hostile}/!(start).spec.ts', '**/browser/*.spec.ts', '**/*{redis,pooler}*.spec.ts'];
const PARTS = { own: ['<rootDir>/**/*.spec.ts', ...SYSTEM.map((pattern) => `!${pattern}`)], system: SYSTEM };

// A deprecated call fails the test that makes it: in this process, in Jest's workers, and in the processes that tests start.
process.throwDeprecation = true;
process.env.NODE_OPTIONS = '--throw-deprecation';

module.exports = {
  // The reporter for a total over all workspaces, as .ci/run prints it.
  ...(process.env.TEST_TOTALS && { reporters: ['default', require.resolve('./jest-totals.cjs')] }),
  // A package's own suites wait for servers and timers as much as they compute. Those of the system start several processes
  // each. A number, because '200%' would be 200 workers.
  maxWorkers: (process.env.TEST_PART === 'system' ? 1 : 2) * availableParallelism(),
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@adoption-store/source', 'node', 'require', 'default'] },
  testMatch: PARTS[process.env.TEST_PART] ?? ['<rootDir>/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/.stryker/'],
  modulePathIgnorePatterns: ['<rootDir>/.stryker/'],
  extensionsToTreatAsEsm: [],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.m?[jt]s$': [
      require.resolve('@swc/jest'),
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${compiledDependencies.join('|')})/)`],
};
