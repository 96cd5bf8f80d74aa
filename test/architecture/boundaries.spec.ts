import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as infrastructure from '@adoption-store/infrastructure';
import { temporaryFolder } from '@adoption-store/test-support';

const repository = join(__dirname, '../..');

/** For each rule a file that breaks it, and no other rule. */
const VIOLATIONS: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'domain-imports-only-itself': ['packages/domain/src/bad.ts', `import type { Stats } from 'node:fs';`],
  'domain-specs-need-only-test-tools': ['packages/domain/src/bad.spec.ts', `import '@adoption-store/infrastructure';`],
  'config-imports-no-other-package': ['packages/config/src/bad.ts', `import '@adoption-store/infrastructure';`],
  'client-imports-nothing-of-ours': ['packages/client/src/bad.ts', `import 'node:crypto';`],
  'only-web-apps-import-nest': ['apps/worker/src/nest.ts', `import '@nestjs/common';`],
  'database-drivers-stay-in-infrastructure': ['apps/api/src/driver.ts', `import type { Repository } from 'typeorm';`],
  'embedded-postgres-knows-nothing-of-the-store': [
    'packages/embedded-postgres/src/bad.ts',
    `import '@adoption-store/config';`,
  ],
  'infrastructure-knows-no-embedded-postgres': [
    'packages/infrastructure/src/embedded.ts',
    `export const open = () => import('@adoption-store/embedded-postgres');`,
  ],
  'test-support-knows-nothing-of-the-store': [
    'packages/test-support/src/bad.ts',
    `export * from '@adoption-store/domain';`,
  ],
  'packages-import-no-app': ['packages/infrastructure/src/app.ts', `import '@adoption-store/api';`],
  'apps-import-no-other-app': ['apps/worker/src/app.ts', `import '@adoption-store/api';`],
  'other-workspaces-by-name-only': ['packages/infrastructure/src/path.ts', `import '../../domain/src/index.js';`],
  'nothing-imports-the-test-workspace': ['apps/api/src/bad.spec.ts', `import '../../../test/index.js';`],
  'production-imports-no-test-code': ['apps/api/src/test-code.ts', `import '@adoption-store/domain/testing';`],
  'production-imports-its-dependencies-alone': [
    'packages/infrastructure/src/dev.ts',
    `import 'fast-check';\nimport 'undeclared';`,
  ],
  'imports-resolve': ['packages/infrastructure/src/deep.ts', `import '@adoption-store/domain/src/index.js';`],
  'http-imports-no-context': ['apps/api/src/http/bad.ts', `import '../limits/index.js';`],
  'no-cycles': ['packages/domain/src/cycle.ts', `export type * as itself from './cycle.js';`],
};
/** Three modules without a cycle, in two folders that have one. */
const FOLDERS = ['apps/worker/src/messages', 'apps/worker/src/accounts'];
const BETWEEN_FOLDERS = [
  ['apps/worker/src/messages/send.ts', `import '../accounts/find.js';`],
  ['apps/worker/src/accounts/find.ts', `import '../messages/count.js';`],
  ['apps/worker/src/messages/count.ts', ''],
  ['apps/api/src/limits/index.ts', ''],
] as const;
const WORKSPACES = [
  ...['client', 'config', 'domain', 'embedded-postgres', 'infrastructure', 'test-support'].map(inPackages),
  ...['api', 'worker'].map((name) => `apps/${name}`),
];
const DEPENDENCIES = { '@nestjs/common': '1.0.0', typeorm: '1.0.0' };
const DEV_DEPENDENCIES = { 'fast-check': '1.0.0' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let found: {
  readonly rules: readonly string[];
  readonly trees: readonly { readonly modules: number; readonly violations: readonly string[] }[];
};

beforeAll(async () => {
  folder = await temporaryFolder();
  writeTree();
  const args = [join(__dirname, 'cruise.js'), repository, folder.path];
  const output = execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26 });
  found = JSON.parse(output) as typeof found;
});

afterAll(() => folder.remove());

it('finds no import in the repository that crosses a boundary', () => {
  expect(found.trees[0]?.violations).toEqual([]);
  expect(found.trees[0]?.modules).toBeGreaterThan(500);
});

it('finds the violation of each rule, and no other', () => {
  expect([...Object.keys(VIOLATIONS), 'no-cycles-between-folders']).toEqual(found.rules);
  const expected = [
    ...Object.entries(VIOLATIONS).map(([rule, [file]]) => `${rule}: ${file}`),
    ...FOLDERS.map((name) => `no-cycles-between-folders: ${name}`),
  ];
  expect([...new Set(found.trees[1]?.violations)].sort()).toEqual(expected.sort());
});

it('exports only the function that opens infrastructure', () => {
  expect(Object.keys(infrastructure)).toEqual(['openInfrastructure']);
});

/** A small installed repository with these files. Nothing of it is run, so the npm packages may be empty. */
function writeTree(): void {
  for (const workspace of WORKSPACES) {
    const name = `@adoption-store/${workspace.split('/')[1] ?? ''}`;
    const exports = { '.': './src/index.ts', './testing': './src/testing/index.ts' };
    const dependencies = { dependencies: DEPENDENCIES, devDependencies: DEV_DEPENDENCIES };
    write(`${workspace}/package.json`, JSON.stringify({ name, exports, ...dependencies }));
    write(`${workspace}/src/index.ts`, '');
    write(`${workspace}/src/testing/index.ts`, '');
    const link = join(folder.path, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(folder.path, workspace), link);
  }
  for (const name of [...Object.keys({ ...DEPENDENCIES, ...DEV_DEPENDENCIES }), 'undeclared']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  write('test/index.ts', '');
  for (const [file, text] of [...Object.values(VIOLATIONS), ...BETWEEN_FOLDERS]) write(file, text);
}

function write(file: string, text: string): void {
  const path = join(folder.path, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function inPackages(name: string): string {
  return `packages/${name}`;
}
