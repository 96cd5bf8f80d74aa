import { cp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import type { ESLint } from 'eslint';
import { fixtureTree, removeTrees, repository, run } from './trees.js';

afterAll(removeTrees);

// What the rules are read from: the domain's own files, so that it is they who are tested.
const SETTINGS = [
  'tsconfig.base.json',
  'packages/domain/eslint.config.js',
  'packages/domain/tsconfig.json',
  'test/tsconfig.json',
];

it('refuses a domain with a clock, randomness or a world of its own, and nothing else', async () => {
  const tree = await fixtureTree('domain-lint');
  for (const file of SETTINGS) await cp(join(repository, file), join(tree, file));
  const tooling = join(tree, 'node_modules/@adoption-store/tooling');
  await rm(tooling);
  await symlink(join(repository, 'packages/tooling'), tooling);
  expect(await restrictions(tree)).toEqual([
    'animals/bad.spec.ts:2 no-restricted-imports',
    'animals/bad.spec.ts:5 no-restricted-syntax',
    'animals/bad.spec.ts:6 no-restricted-syntax',
    'animals/bad.spec.ts:7 no-restricted-syntax',
    'animals/bad.spec.ts:8 no-restricted-syntax',
    'animals/bad.spec.ts:9 no-restricted-syntax',
    'bad.ts:1 no-restricted-imports',
    'bad.ts:2 no-restricted-imports',
    'bad.ts:4 no-restricted-properties',
    'bad.ts:5 no-restricted-syntax',
    'bad.ts:6 no-restricted-syntax',
    'bad.ts:7 no-restricted-properties',
    'bad.ts:8 no-restricted-globals',
    'bad.ts:9 no-restricted-globals',
    'bad.ts:10 no-restricted-globals',
    'bad.ts:11 no-restricted-globals',
    'bad.ts:12 no-restricted-globals',
    'bad.ts:13 no-restricted-globals',
    'bad.ts:14 no-restricted-syntax',
    'bad.ts:15 no-restricted-syntax',
  ]);
});

// The fixture above shows that the rule works.
it.each(['apps/api', 'apps/portal', 'apps/worker', 'packages/client', 'packages/infrastructure', 'test'])(
  'refuses focused tests in %s, too',
  async (workspace) => {
    const output = await run(process.execPath, [eslint, '--print-config', 'any.spec.ts'], join(repository, workspace));
    const { rules } = JSON.parse(output) as { rules: Record<string, readonly unknown[]> };
    expect(JSON.stringify(rules['no-restricted-syntax'])).toContain('a focused test switches off all others');
  },
);

/** ESLint's program: a process of its own, because its settings are ESM and Jest runs CommonJS here. */
const eslint = join(dirname(createRequire(__filename).resolve('eslint/package.json')), 'bin/eslint.js');

/** The file, line and rule of each finding of the rules that only the domain has. */
async function restrictions(tree: string): Promise<string[]> {
  const domain = join(tree, 'packages/domain');
  const output = await run(process.execPath, [eslint, 'src', '--format', 'json'], domain);
  return (JSON.parse(output) as ESLint.LintResult[]).flatMap(({ filePath, messages }) =>
    messages
      .filter(({ ruleId }) => ruleId === null || ruleId.startsWith('no-restricted-'))
      .map(({ line, ruleId, message }) => `${relative(join(domain, 'src'), filePath)}:${line} ${ruleId ?? message}`),
  );
}
