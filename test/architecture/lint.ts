import { cp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { ESLint } from 'eslint';
import { fixtureTree, repository, run } from './trees.js';

/** ESLint runs in a separate process, because its configuration is ESM and Jest runs CommonJS here. */
const eslint = join(dirname(createRequire(__filename).resolve('eslint/package.json')), 'bin/eslint.js');

export interface Finding {
  /** The file, relative to the package's sources, and the line. */
  readonly place: string;
  /** Undefined if the file could not be linted. */
  readonly rule: string | undefined;
  readonly message: string;
}

/** The findings of a package's own lint rules in the sources of a fixture. */
export async function restrictionsIn(fixture: string, workspace: string): Promise<readonly Finding[]> {
  const tree = await fixtureTree(fixture);
  // The package's own files, so that they are tested.
  const own = ['eslint.config.js', 'tsconfig.json'].map((file) => join(workspace, file));
  for (const file of ['tsconfig.base.json', 'test/tsconfig.json', ...own]) {
    await cp(join(repository, file), join(tree, file));
  }
  const tooling = join(tree, 'node_modules/@adoption-store/tooling');
  await rm(tooling);
  await symlink(join(repository, 'packages/tooling'), tooling);
  const folder = join(tree, workspace);
  const output = await run(process.execPath, [eslint, 'src', '--format', 'json'], folder);
  return (JSON.parse(output) as ESLint.LintResult[]).flatMap(({ filePath, messages }) =>
    messages
      .filter(({ ruleId }) => ruleId === null || ruleId.startsWith('no-restricted-'))
      .map(({ line, ruleId, message }) => ({
        place: `${relative(join(folder, 'src'), filePath)}:${line}`,
        rule: ruleId ?? undefined,
        message,
      })),
  );
}

/** The rules for a file of a workspace, by their names. */
export async function rulesOf(workspace: string, file: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const output = await run(process.execPath, [eslint, '--print-config', file], join(repository, workspace));
  return (JSON.parse(output) as { rules: Record<string, readonly unknown[]> }).rules;
}
