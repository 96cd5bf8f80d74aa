import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier/flat';
import tseslint from 'typescript-eslint';

/**
 * The lint rules of every workspace.
 *
 * @param {string} directory the workspace's folder, `import.meta.dirname`.
 * @param {string[]} projects the tsconfigs that include its files: its own has the sources, the test workspace's the
 * specs.
 * @param {string[]} testCode sources that only tests run. They may use a framework's internals.
 */
export function workspace(directory, projects = ['tsconfig.json', '../../test/tsconfig.json'], testCode = []) {
  return [
    { ignores: ['dist/', 'coverage/', '.stryker/'] },
    { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
    eslint.configs.recommended,
    ...tseslint.configs.strictTypeChecked,
    ...tseslint.configs.stylisticTypeChecked,
    { languageOptions: { parserOptions: { project: projects, tsconfigRootDir: directory } } },
    { rules: sharedRules },
    { files: ['src/**/*.ts'], ignores: ['src/**/*.spec.ts', ...testCode], rules: insideFrameworks() },
    {
      // Configuration of tools: plain JavaScript that no tsconfig includes, so rules that need types can't check it.
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
    // Last, because it disables the rules that conflict with Prettier.
    prettier,
  ];
}

/** A focused test silently disables all other tests of its file. */
const focusedTests = [
  'MemberExpression[property.name="only"][object.name=/^(describe|it|test)$/]',
  'MemberExpression[property.name="only"][object.object.name=/^(describe|it|test)$/]',
  'MemberExpression[property.value="only"][object.name=/^(describe|it|test)$/]',
  'CallExpression[callee.name=/^(fdescribe|fit|ftest)$/]',
].map((selector) => ({ selector, message: 'a focused test switches off all others' }));

/** It would only keep Prettier from giving each property a line. */
const packedLines = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'write the properties out',
};

/** Refused in every file. */
const everywhere = [...focusedTests, packedLines];

const sharedRules = {
  eqeqeq: 'error',
  'no-restricted-syntax': ['error', ...everywhere],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-import-type-side-effects': 'error',
  // Spreading a string iterates over code points, which the API counts.
  '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
  // Destructuring a property out is the way to get an object without it.
  '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
  // TypeORM and Nest declare their options as classes, but expect object literals.
  '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
  // A Nest module has only a decorator; its class is empty.
  '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
  // A number or bigint has exactly one text form, so writing it into a message is safe.
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  // A port's method is async even if this adapter awaits nothing: its callers must get a rejection, not an exception.
  '@typescript-eslint/require-await': 'off',
};

/**
 * Allows frameworks only through their documented interfaces. Anything that could break with a patch release, or that
 * changes a framework for other plugins, is refused.
 *
 * @param {{ selector: string, message: string }[]} [syntax] further refused syntax.
 */
function insideFrameworks(syntax = []) {
  return {
    'no-restricted-syntax': ['error', ...everywhere, ...privateParts, ...syntax],
    'no-restricted-imports': ['error', { patterns: privateModules }],
  };
}

const HTTP_CLASSES = 'IncomingMessage|ServerResponse|OutgoingMessage|ClientRequest|Server|Agent|Socket';

const privateParts = [
  {
    selector: ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration[kind!="const"]',
    message: 'no mutable state in a module: keep it in the object that it belongs to',
  },
  {
    selector: 'MemberExpression[property.name=/^_(?!csrf$)/][object.type!="ThisExpression"]',
    message: 'a member that begins with _ is private',
  },
  {
    selector: `:matches(ClassDeclaration, ClassExpression)[superClass.name=/^(${HTTP_CLASSES})$/]`,
    message: "don't extend Node's HTTP and network classes",
  },
  {
    selector: `:matches(ClassDeclaration, ClassExpression)[superClass.property.name=/^(${HTTP_CLASSES}|Client|Query|Connection)$/]`,
    message: "don't extend the classes of Node's HTTP or of pg's connections",
  },
  {
    selector:
      'AssignmentExpression[left.type="MemberExpression"][left.object.type!="ThisExpression"][right.type=/FunctionExpression$/]',
    message: "don't replace another object's method",
  },
  {
    selector: 'AssignmentExpression[left.object.property.name="prototype"]',
    message: "don't change another class's prototype",
  },
  {
    selector:
      'CallExpression[callee.object.name=/^(Object|Reflect)$/][callee.property.name=/^(create|defineProperty|defineProperties|setPrototypeOf)$/]',
    message: "don't change an object's internals",
  },
  {
    selector: 'MemberExpression[object.name="require"][property.name="cache"]',
    message: 'the module cache is private',
  },
  { selector: 'NewExpression[callee.name="Module"]', message: 'the module loader is private' },
  { selector: 'CallExpression[callee.name="setFlagsFromString"]', message: 'set V8 flags where Node.js is started' },
  { selector: 'ImportSpecifier[imported.name="Submittable"]', message: "pg's wire protocol is internal to pg" },
];

const privateModules = [
  {
    // Packages document their named exports. The exempt ones also document an export by path.
    regex:
      '^(?!\\.{1,2}/|node:|@adoption-store/(?:domain/testing|infrastructure/turns|web/edge)$)(?:@[^/]+/[^/]+|[^@/][^/]*)/',
    message: "a path into a package is private: import it by the package's name",
  },
  { regex: '^(?:node:)?v8$', message: 'set V8 flags where Node.js is started' },
  { regex: '^pg-protocol$', message: "pg's wire protocol is internal to pg" },
];

/**
 * Additional rules of the domain: no clock and no randomness of its own, so that a test controls both. Its compiler and
 * dependency-cruiser refuse everything that isn't the language's.
 *
 * @param {string} directory
 */
export function domain(directory) {
  const clock = 'take the Clock port instead';
  const dates = [
    { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: clock },
    // `Date()` without `new` returns the current time, whatever its arguments.
    { selector: 'CallExpression[callee.name="Date"]', message: clock },
  ];
  return [
    ...workspace(directory),
    {
      files: ['src/**/*.ts'],
      rules: {
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: clock },
          { object: 'Math', property: 'random', message: 'take the Cryptography port instead' },
        ],
        ...insideFrameworks(dates),
      },
    },
    { files: ['src/**/*.spec.ts'], rules: { 'no-restricted-syntax': ['error', ...everywhere, ...dates] } },
  ];
}
