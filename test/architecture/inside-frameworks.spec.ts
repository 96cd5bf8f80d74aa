import { cp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import type { ESLint } from 'eslint';
import { fixtureTree, removeTrees, repository, run } from './trees.js';

afterAll(removeTrees);

const PACKAGE = 'packages/infrastructure';
// The package's own settings, so that it is they that are tested.
const SETTINGS = ['tsconfig.base.json', 'eslint.config.js', 'tsconfig.json'].map((file) =>
  file === 'tsconfig.base.json' ? file : join(PACKAGE, file),
);

it('refuses what reaches past what a framework documents, and nothing else', async () => {
  const tree = await fixtureTree('inside-frameworks');
  for (const file of [...SETTINGS, 'test/tsconfig.json']) await cp(join(repository, file), join(tree, file));
  const tooling = join(tree, 'node_modules/@adoption-store/tooling');
  await rm(tooling);
  await symlink(join(repository, 'packages/tooling'), tooling);
  expect(await findings(tree)).toEqual([
    "bad.ts:1 pg's wire protocol is pg's",
    "bad.ts:2 a path into a package is private: import it by the package's name",
    'bad.ts:3 V8 flags stand where Node.js is started',
    "bad.ts:6 pg's wire protocol is pg's",
    'bad.ts:7 no variable lives as long as the module: keep it in the object that it belongs to',
    'bad.ts:8 no variable lives as long as the module: keep it in the object that it belongs to',
    'bad.ts:9 V8 flags stand where Node.js is started',
    "bad.ts:10 Node's HTTP and network classes are not ours to extend",
    "bad.ts:11 the classes of Node's HTTP and of pg's connections are not ours to extend",
    'bad.ts:16 a member that begins with _ is private',
    "bad.ts:17 another object's method is not ours to replace",
    "bad.ts:18 another class's prototype is not ours to change",
    "bad.ts:19 an object's internals are not ours to change",
    'bad.ts:20 the module cache is private',
    'bad.ts:21 the module loader is private',
    "bad.ts:21 an object's internals are not ours to change",
  ]);
});

// The fixture above shows that the rules work.
it.each([
  ...['api', 'cli', 'portal', 'worker'].map((name) => `apps/${name}`),
  ...['client', 'config', 'domain', 'infrastructure', 'telemetry', 'web'].map((name) => `packages/${name}`),
])('refuses it in %s', async (workspace) => {
  const output = await run(process.execPath, [eslint, '--print-config', 'src/any.ts'], join(repository, workspace));
  const { rules } = JSON.parse(output) as { rules: Record<string, readonly unknown[]> };
  expect(JSON.stringify(rules['no-restricted-syntax'])).toContain('a member that begins with _ is private');
  expect(JSON.stringify(rules['no-restricted-imports'])).toContain('a path into a package is private');
});

/** ESLint's program: a process of its own, because its settings are ESM and Jest runs CommonJS here. */
const eslint = join(dirname(createRequire(__filename).resolve('eslint/package.json')), 'bin/eslint.js');

/** The file, line and message of each finding of these rules. */
async function findings(tree: string): Promise<string[]> {
  const folder = join(tree, PACKAGE);
  const output = await run(process.execPath, [eslint, 'src', '--format', 'json'], folder);
  return (JSON.parse(output) as ESLint.LintResult[]).flatMap(({ filePath, messages }) =>
    messages
      .filter(({ ruleId }) => ruleId === null || ruleId.startsWith('no-restricted-'))
      .map(({ line, message }) => `${relative(join(folder, 'src'), filePath)}:${line} ${reason(message)}`),
  );
}

/** Of a restricted import ESLint says first which one it is. */
function reason(message: string): string {
  return message.replace(/^'[^']+' import is restricted from being used by a pattern\. /, '');
}
