/**
 * What may import what, for dependency-cruiser. `fixtures/<name of the rule>/` breaks the rule in each file called
 * `bad*`, and boundaries.spec.ts proves that the rule says so. Paths are relative to the repository.
 */
/** Code that production never loads, as a pattern of paths. */
export const TEST_CODE = String.raw`\.spec\.ts$|/src/testing(\.ts$|/)|^(packages|apps)/[^/]+/test/|^packages/test-support/`;
const PRODUCTION = { path: '^(packages|apps)/[^/]+/src/', pathNot: TEST_CODE };

/** Matches modules of npm packages, whether they are installed or not. */
const npm = (...names) => `(^|/node_modules/|^node_modules/)(${names.join('|')})(/|$)`;

export const rules = [
  {
    name: 'domain-imports-only-itself',
    comment:
      'No npm package, no Node builtin, no other package: rules that run anywhere and are tested without a world.',
    from: { path: '^packages/domain/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { pathNot: '^packages/domain/src/' },
  },
  {
    name: 'domain-specs-need-only-test-tools',
    comment: "The domain's own tests need no database, no framework and no other package either.",
    from: { path: String.raw`^packages/domain/src/.*\.spec\.ts$` },
    to: { pathNot: ['^packages/domain/src/', npm('@jest/globals', 'fast-check')] },
  },
  {
    name: 'config-imports-no-other-package',
    comment: 'Reading settings comes before everything that is set by them.',
    from: { path: '^packages/config/src/' },
    to: { path: '^packages/', pathNot: '^packages/config/' },
  },
  {
    name: 'client-imports-nothing-of-ours',
    comment: 'It runs at somebody else, in a browser too: no Node builtin, and of us it knows the description alone.',
    from: { path: '^packages/client/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { pathNot: ['^packages/client/src/', npm('lossless-json')] },
  },
  {
    name: 'only-web-apps-import-nest',
    comment: 'The other packages serve every app, and only those that serve HTTP to others are Nest applications.',
    from: { path: '^(packages|apps)/', pathNot: '^(apps/(api|portal)|packages/web)/' },
    to: { path: npm('@nestjs') },
  },
  {
    name: 'database-drivers-stay-in-infrastructure',
    comment: 'All other packages see ports. Tests look behind them.',
    from: {
      path: '^(packages|apps)/',
      pathNot: '^packages/(infrastructure|embedded-postgres|test-support)/|^(packages|apps)/[^/]+/test/',
    },
    to: { path: npm('typeorm', 'pg', 'ioredis') },
  },
  {
    name: 'embedded-postgres-knows-nothing-of-the-store',
    comment: 'It runs a PostgreSQL for whatever store; of npm it needs the driver alone.',
    from: { path: '^packages/embedded-postgres/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { path: '^(packages|apps)/|node_modules/', pathNot: ['^packages/embedded-postgres/src/', npm('pg', '@types')] },
  },
  {
    name: 'infrastructure-knows-no-embedded-postgres',
    comment: 'It takes a database to connect to, whoever runs it.',
    from: { path: '^packages/infrastructure/' },
    to: { path: '^packages/embedded-postgres/' },
  },
  {
    name: 'packages-import-no-app',
    comment: "Apps are put together from packages, never the other way round. The client's tests call the real API.",
    from: { path: '^packages/', pathNot: '^packages/client/test/' },
    to: { path: '^apps/' },
  },
  {
    name: 'apps-import-no-other-app',
    comment: 'Apps are deployed one by one; what two of them need is a package. Their tests may run another one.',
    from: { path: '^apps/([^/]+)/src/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'other-workspaces-by-name-only',
    comment: 'A relative path into another workspace goes past its exports and its package.json.',
    from: { path: '^(test|(?:packages|apps)/[^/]+)/' },
    to: { path: '^(packages|apps)/', pathNot: '^$1/', dependencyTypes: ['local'] },
  },
  {
    name: 'nothing-imports-the-test-workspace',
    comment: 'It knows all the others, so whoever imported it would too.',
    from: { path: '^(packages|apps)/' },
    to: { path: '^test/' },
  },
  {
    name: 'production-imports-no-test-code',
    comment: 'Specs and testing modules are not there in production.',
    from: PRODUCTION,
    to: { path: TEST_CODE },
  },
  {
    name: 'production-imports-no-dev-dependency',
    comment: 'What production imports is installed with it.',
    from: PRODUCTION,
    to: { dependencyTypes: ['npm-dev'] },
  },
  {
    name: 'imports-resolve',
    comment: "Also what catches a deep import by name: another package's src and dist are not among its exports.",
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-cycles',
    comment: 'Of two modules that need each other neither can be understood, tested or moved alone. Types count.',
    from: {},
    to: { circular: true },
  },
];
