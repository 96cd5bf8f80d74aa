import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier/flat';
import tseslint from 'typescript-eslint';

/**
 * The rules every workspace keeps.
 *
 * @param {string} directory the workspace's folder, as `import.meta.dirname` gives it.
 * @param {string[]} projects the tsconfigs that know its files: its own knows the sources, the test workspace's the specs.
 * @param {string[]} testCode sources that only tests run: they may watch a framework from inside.
 */
export function workspace(directory, projects = ['tsconfig.json', '../../test/tsconfig.json'], testCode = []) {
  return [
    // The architecture's fixtures are wrong on purpose.
    { ignores: ['dist/', 'coverage/', '.stryker/', 'architecture/fixtures/'] },
    { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
    eslint.configs.recommended,
    ...tseslint.configs.strictTypeChecked,
    ...tseslint.configs.stylisticTypeChecked,
    { languageOptions: { parserOptions: { project: projects, tsconfigRootDir: directory } } },
    { rules: sharedRules },
    { files: ['src/**/*.ts'], ignores: ['src/**/*.spec.ts', ...testCode], rules: insideFrameworks() },
    {
      // Settings of tools: plain JavaScript that no tsconfig knows, so the rules that need types can't judge it.
      files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
      ...tseslint.configs.disableTypeChecked,
      languageOptions: {
        ...tseslint.configs.disableTypeChecked.languageOptions,
        globals: { AbortController: 'readonly', console: 'readonly', process: 'readonly', URL: 'readonly' },
      },
    },
    {
      files: ['**/*.cjs'],
      languageOptions: { sourceType: 'commonjs' },
      // CommonJS has no other way to import.
      rules: { '@typescript-eslint/no-require-imports': 'off' },
    },
    // Last: what Prettier decides is nobody else's business.
    prettier,
  ];
}

/** One test that is focused switches all others of its file off, and nothing would say so. */
const focusedTests = [
  'MemberExpression[property.name="only"][object.name=/^(describe|it|test)$/]',
  'MemberExpression[property.name="only"][object.object.name=/^(describe|it|test)$/]',
  'MemberExpression[property.value="only"][object.name=/^(describe|it|test)$/]',
  'CallExpression[callee.name=/^(fdescribe|fit|ftest)$/]',
].map((selector) => ({ selector, message: 'a focused test switches off all others' }));

const sharedRules = {
  eqeqeq: 'error',
  'no-restricted-syntax': ['error', ...focusedTests],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-import-type-side-effects': 'error',
  // Spreading a string walks its code points, which is what the contract counts.
  '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
  // Taking a property out is how the rest of an object is had without it.
  '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
  // TypeORM and Nest declare the options they take as classes, and mean literals.
  '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
  // A Nest module says everything in its decorator, and its class is empty.
  '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
  // A number or a bigint has one text, so writing it into a message hides nothing.
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  // A port's method is async whether or not this adapter waits for anything: its callers must get a rejection, never
  // an exception.
  '@typescript-eslint/require-await': 'off',
};

/**
 * Frameworks are used through what they document: what breaks with somebody else's patch release, or is hidden from
 * another plugin, is refused.
 *
 * @param {{ selector: string, message: string }[]} [syntax] what else is refused.
 * @param {{ regex: string, message: string }[]} [imports]
 */
function insideFrameworks(syntax = [], imports = []) {
  return {
    'no-restricted-syntax': ['error', ...focusedTests, ...privateParts, ...syntax],
    'no-restricted-imports': ['error', { patterns: [...privateModules, ...imports] }],
  };
}

const HTTP_CLASSES = 'IncomingMessage|ServerResponse|OutgoingMessage|ClientRequest|Server|Agent|Socket';

const privateParts = [
  {
    selector: ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration[kind!="const"]',
    message: 'no variable lives as long as the module: keep it in the object that it belongs to',
  },
  {
    selector: 'MemberExpression[property.name=/^_(?!csrf$)/][object.type!="ThisExpression"]',
    message: 'a member that begins with _ is private',
  },
  {
    selector: `:matches(ClassDeclaration, ClassExpression)[superClass.name=/^(${HTTP_CLASSES})$/]`,
    message: "Node's HTTP and network classes are not ours to extend",
  },
  {
    selector: `:matches(ClassDeclaration, ClassExpression)[superClass.property.name=/^(${HTTP_CLASSES}|Client|Query|Connection)$/]`,
    message: "the classes of Node's HTTP and of pg's connections are not ours to extend",
  },
  {
    selector:
      'AssignmentExpression[left.type="MemberExpression"][left.object.type!="ThisExpression"][right.type=/FunctionExpression$/]',
    message: "another object's method is not ours to replace",
  },
  {
    selector: 'AssignmentExpression[left.object.property.name="prototype"]',
    message: "another class's prototype is not ours to change",
  },
  {
    selector:
      'CallExpression[callee.object.name=/^(Object|Reflect)$/][callee.property.name=/^(create|defineProperty|defineProperties|setPrototypeOf)$/]',
    message: "an object's internals are not ours to change",
  },
  {
    selector: 'MemberExpression[object.name="require"][property.name="cache"]',
    message: 'the module cache is private',
  },
  { selector: 'NewExpression[callee.name="Module"]', message: 'the module loader is private' },
  { selector: 'CallExpression[callee.name="setFlagsFromString"]', message: 'V8 flags stand where Node.js is started' },
  { selector: 'ImportSpecifier[imported.name="Submittable"]', message: "pg's wire protocol is pg's" },
];

const privateModules = [
  {
    // Packages document what they export by their names; these export by paths, too.
    regex: '^(?!\\.{1,2}/|node:|@adoption-store/domain/testing$)(?:@[^/]+/[^/]+|[^@/][^/]*)/',
    message: "a path into a package is private: import it by the package's name",
  },
  { regex: '^(?:node:)?v8$', message: 'V8 flags stand where Node.js is started' },
  { regex: '^pg-protocol$', message: "pg's wire protocol is pg's" },
];

/**
 * The domain's own rules, on top: it has no clock, no randomness and no world, so that a test can decide all three.
 *
 * @param {string} directory
 */
export function domain(directory) {
  return [
    ...workspace(directory),
    {
      files: ['src/**/*.ts'],
      rules: {
        'no-restricted-globals': ['error', ...worldlyGlobals.map((name) => ({ name, message: 'take a port instead' }))],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'take the Clock port instead' },
          { object: 'Math', property: 'random', message: 'take the Cryptography port instead' },
        ],
        ...insideFrameworks(worldlySyntax, [importsOtherThan()]),
      },
    },
    {
      files: ['src/**/*.spec.ts'],
      rules: {
        'no-restricted-syntax': ['error', ...focusedTests, ...worldlySyntax],
        'no-restricted-imports': ['error', { patterns: [importsOtherThan('@jest/globals', 'fast-check')] }],
      },
    },
  ];
}

const worldlySyntax = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'take the Clock port instead' },
  // Date() without `new` is the current time, whatever it is given.
  { selector: 'CallExpression[callee.name="Date"]', message: 'take the Clock port instead' },
  { selector: 'ImportExpression', message: 'import statically' },
  { selector: 'TSImportType', message: 'import the type by name' },
];

const worldlyGlobals = [
  'Buffer',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'global',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'require',
  'setImmediate',
  'setInterval',
  'setTimeout',
];

/** @param {string[]} allowed */
function importsOtherThan(...allowed) {
  const names = allowed.map((name) => `${name}$`);
  return {
    regex: `^(?!${['\\.{1,2}/', ...names].join('|')})`,
    message: 'the domain imports only itself, by relative paths',
  };
}
