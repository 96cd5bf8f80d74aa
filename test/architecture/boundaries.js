/**
 * The allowed imports, for dependency-cruiser. Paths are relative to the repository.
 */

/** A pattern for the paths of code that production never loads. */
const TEST_CODE = String.raw`\.spec\.ts$|/src/testing(\.ts$|/)|^(packages|apps)/[^/]+/test/|^packages/test-support/`;
const PRODUCTION = { path: '^(packages|apps)/[^/]+/src/', pathNot: TEST_CODE };

/** Matches modules of npm packages, installed or not. */
const npm = (...names) => `(^|/node_modules/|^node_modules/)(${names.join('|')})(/|$)`;

export const rules = [
  {
    name: 'domain-imports-only-itself',
    comment:
      'No npm package, no Node builtin, no other package: the domain runs anywhere, and its tests need no environment.',
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
    name: 'contexts-know-no-published-language',
    comment: 'What others see of a resource follows from it. Events, webhooks and apps publish it.',
    from: { path: '^packages/domain/src/(accounts|animals|categories|kernel|messages|orders)/' },
    to: { path: '^packages/domain/src/published/' },
  },
  {
    name: 'published-language-knows-entities-alone',
    comment: 'It says how a resource is written, and decides nothing.',
    from: { path: '^packages/domain/src/published/' },
    to: {
      path: '^packages/domain/src/',
      pathNot: '^packages/domain/src/(published/|kernel/clock|animals/animal|messages/message|orders/order)[^/]*$',
    },
  },
  {
    name: 'admission-imports-the-domain-alone',
    comment: 'Every app may admit requests with it, whatever its framework and its platform.',
    from: { path: '^packages/admission/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { pathNot: '^packages/(admission/src|domain)/' },
  },
  {
    name: 'config-imports-no-other-package',
    comment: 'Settings are read before any other package is used. The names of the scopes are the domain’s.',
    from: { path: '^packages/config/src/' },
    to: { path: '^packages/', pathNot: '^packages/(config|domain)/' },
  },
  {
    name: 'client-imports-nothing-of-ours',
    comment:
      'It runs in other programs, and in browsers: no Node builtin, and of this repository only the OpenAPI description.',
    from: { path: '^packages/client/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { pathNot: ['^packages/client/src/', npm('@ungap/raw-json', 'http-link-header', 'standardwebhooks')] },
  },
  {
    name: 'only-web-apps-import-nest',
    comment: 'Only the apps with a public HTTP interface use Nest; the other packages serve every app.',
    from: {
      path: '^(packages|apps)/',
      pathNot: String.raw`^(apps/(api|portal)|packages/web)/|^packages/admission/.*\.spec\.ts$`,
    },
    to: { path: npm('@nestjs') },
  },
  {
    name: 'database-drivers-stay-in-infrastructure',
    comment: 'All other packages use ports. Only tests may use the database directly.',
    from: {
      path: '^(packages|apps)/',
      pathNot: '^packages/(infrastructure|embedded-postgres|test-support)/|^(packages|apps)/[^/]+/test/',
    },
    to: { path: npm('typeorm', 'pg', 'pg-copy-streams', 'ioredis') },
  },
  {
    name: 'embedded-postgres-knows-nothing-of-the-store',
    comment: 'It runs a PostgreSQL for any application, and needs only the driver from npm.',
    from: { path: '^packages/embedded-postgres/src/', pathNot: String.raw`\.spec\.ts$` },
    to: { path: '^(packages|apps)/|node_modules/', pathNot: ['^packages/embedded-postgres/src/', npm('pg', '@types')] },
  },
  {
    name: 'infrastructure-knows-no-embedded-postgres',
    comment: 'It connects to a given database, and does not start one.',
    from: { path: '^packages/infrastructure/' },
    to: { path: '^packages/embedded-postgres/' },
  },
  {
    name: 'apps-open-the-store-by-its-package',
    comment: 'An app that opened it by itself could forget a policy that all apps share. Types are allowed.',
    from: { path: '^apps/[^/]+/src/' },
    to: {
      path: '^packages/(infrastructure|embedded-postgres)/',
      pathNot: '^packages/infrastructure/src/turns/',
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'test-support-knows-nothing-of-the-store',
    comment: 'Every workspace may need it for its tests, so it needs none of them but what starts a PostgreSQL.',
    from: { path: '^packages/test-support/' },
    to: { path: '^(packages|apps)/', pathNot: '^packages/(test-support|embedded-postgres|tooling)/' },
  },
  {
    name: 'packages-import-no-app',
    comment: "Apps use packages, never the other way round. The client's tests call the real API.",
    from: { path: '^packages/', pathNot: '^packages/client/test/' },
    to: { path: '^apps/' },
  },
  {
    name: 'apps-import-no-other-app',
    comment:
      'Apps are deployed separately. Code that two of them need belongs to a package. Their tests may run another app.',
    from: { path: '^apps/([^/]+)/src/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'other-workspaces-by-name-only',
    comment: 'A relative path into another workspace bypasses its exports and its package.json.',
    from: { path: '^(test|(?:packages|apps)/[^/]+)/' },
    to: { path: '^(packages|apps)/', pathNot: '^$1/', dependencyTypes: ['local'] },
  },
  {
    name: 'nothing-imports-the-test-workspace',
    comment: 'It depends on all the others, so a package that imported it would too.',
    from: { path: '^(packages|apps)/' },
    to: { path: '^test/' },
  },
  {
    name: 'production-imports-no-test-code',
    comment: 'Specs and testing modules are not installed in production.',
    from: PRODUCTION,
    to: { path: TEST_CODE },
  },
  {
    name: 'production-imports-its-dependencies-alone',
    comment: 'Production installs what package.json declares, without the dependencies of development.',
    from: PRODUCTION,
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'imports-resolve',
    comment: "Also what catches a deep import by name: another package's src and dist are not among its exports.",
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'http-imports-no-context',
    comment: 'The edge serves every context. What it needs of one is passed in, by create-api.ts or create-portal.ts.',
    from: { path: '^apps/([^/]+)/src/http/' },
    to: { path: '^apps/$1/src/[^/]+/', pathNot: '^apps/$1/src/http/' },
  },
  {
    name: 'no-cycles',
    comment: 'Two modules that import each other can’t be understood, tested or moved alone. Type imports count.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-cycles-between-folders',
    comment: 'A folder can’t be understood, tested or moved alone if what it imports imports it.',
    scope: 'folder',
    from: { path: '^((?:packages|apps)/[^/]+)/src(/|$)' },
    to: { path: '^$1/src(/|$)', circular: true },
  },
];
