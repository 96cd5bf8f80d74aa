import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { TEST_CODE } from './boundaries.js';
import type { Import } from './trees.js';

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly name?: string;
  readonly exports?: Readonly<Record<string, string | Versions>>;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
}

interface Workspace {
  /** The folder, such as `packages/domain`, or `.` for the root. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The allowed exports of each package. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  'packages/domain': ['.', './testing'],
  'packages/infrastructure': ['.', './testing'],
  'packages/embedded-postgres': ['.', './testing'],
  'packages/config': ['.'],
  'packages/client': ['.'],
  'packages/telemetry': ['.'],
  'packages/web': ['.'],
  'packages/test-support': ['.', './jest'],
  'packages/tooling': ['./eslint', './jest', './stryker'],
  'apps/api': ['.', './testing/*'],
  'apps/portal': ['.', './testing/*'],
};

const SCOPE = '@adoption-store/';
const IN_TESTS = new RegExp(`^test/|${TEST_CODE}`);

/** The violations in the tree's package.json and tsconfig.json files, one sentence each. */
export function brokenFences(tree: string, imports: readonly Import[]): string[] {
  const workspaces = workspacesOf(tree);
  return [
    ...workspaces.filter(({ folder }) => folder === 'packages/domain').flatMap(domainDependencies),
    ...workspaces.flatMap(unknownExports),
    ...workspaces.flatMap(otherSources),
    ...workspaces.flatMap(inexactVersions),
    ...undeclaredImports(workspaces, imports),
    ...workspaces.flatMap((workspace) => otherReferences(tree, workspace)),
  ];
}

function workspacesOf(tree: string): readonly Workspace[] {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(tree, parent)).map((name) => `${parent}/${name}`),
  );
  return ['.', 'test', ...folders]
    .filter((folder) => existsSync(join(tree, folder, 'package.json')))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(tree, folder, 'package.json'), 'utf8')) as Manifest,
    }));
}

/** The packages that are installed with the workspace in production. */
function installed({ dependencies, optionalDependencies, peerDependencies }: Manifest): Versions {
  return { ...dependencies, ...optionalDependencies, ...peerDependencies };
}

function domainDependencies({ folder, manifest }: Workspace): string[] {
  return Object.keys(installed(manifest)).map((name) => `${folder} depends on ${name}`);
}

function unknownExports({ folder, manifest }: Workspace): string[] {
  return Object.keys(manifest.exports ?? {})
    .filter((path) => !EXPORTS[folder]?.includes(path))
    .map((path) => `${folder} exports ${path}`);
}

/** Tests use the source, the compiler the types, and Node the code: all three must be the same module. */
function otherSources({ folder, manifest }: Workspace): string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([path, conditions]) => {
    // The tooling is plain JavaScript without a build.
    if (typeof conditions === 'string') return [];
    const source = conditions[`${SCOPE}source`] ?? '';
    // Test code is run from its source and never built.
    if (Object.keys(conditions).length === 1 && IN_TESTS.test(join(folder, source))) return [];
    const name = /^\.\/src\/(.+)\.ts$/.exec(source)?.[1] ?? '';
    const isOne = conditions['types'] === `./dist/${name}.d.ts` && conditions['default'] === `./dist/${name}.js`;
    return isOne ? [] : [`${folder} exports more than one module as ${path}`];
  });
}

function inexactVersions({ folder, manifest }: Workspace): string[] {
  return Object.entries({ ...installed(manifest), ...manifest.devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${folder} takes any ${version} of ${name}`);
}

function undeclaredImports(workspaces: readonly Workspace[], imports: readonly Import[]): string[] {
  const manifestOf = (folder: string) => workspaces.find((workspace) => workspace.folder === folder)?.manifest ?? {};
  // The test tools and the compiler are declared in one place each, and every test may use them.
  const tools = { ...manifestOf('packages/tooling').dependencies, ...manifestOf('.').devDependencies };
  return imports
    .filter(({ module, isBuiltin }) => !isBuiltin && !module.startsWith('.'))
    .flatMap(({ from, module }) => {
      const manifest = manifestOf(/^(?:test|[^/]+\/[^/]+)/.exec(from)?.[0] ?? '');
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? module;
      const forTests = IN_TESTS.test(from) ? { ...manifest.devDependencies, ...tools } : {};
      // Tests may import their own workspace as others do.
      if (IN_TESTS.test(from) && name === manifest.name) return [];
      return name in { ...installed(manifest), ...forTests } ? [] : [`${from} imports ${name}, undeclared`];
    });
}

/** Imported workspaces are built first, so a workspace's references must equal its dependencies in this repository. */
function otherReferences(tree: string, { folder, manifest }: Workspace): string[] {
  const file = join(tree, folder, 'tsconfig.json');
  if (folder === 'test' || !existsSync(file)) return [];
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as {
    config: { references?: readonly { path: string }[] };
  };
  const referenced = (config.references ?? []).map(({ path }) => relative(tree, join(tree, folder, path)));
  const depended = Object.keys(installed(manifest))
    .filter((name) => name.startsWith(SCOPE))
    .map((name) => `packages/${name.slice(SCOPE.length)}`);
  return [
    ...depended.filter((each) => !referenced.includes(each)).map((each) => `${folder} has no reference to ${each}`),
    ...referenced.filter((each) => !depended.includes(each)).map((each) => `${folder} has a reference to ${each}`),
  ];
}
