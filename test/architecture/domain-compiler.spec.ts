import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { fixtures, repository } from './trees.js';

const domain = join(repository, 'packages/domain');
const sources = join(fixtures, 'domain-compiler/packages/domain/src');

it("gives the domain the language's own types only: no Node, no browser", () => {
  const { types, lib } = compilerOptions();
  expect({ types, lib }).toEqual({ types: [], lib: ['lib.es2023.d.ts'] });
});

it('refuses a domain that uses Node or a browser', () => {
  expect(errorsOf(readdirSync(sources).map((name) => join(sources, name)))).toEqual({
    'bad-browser.ts': expect.stringContaining("Cannot find name 'document'"),
    'bad-builtin.ts': expect.stringMatching(/Cannot find (?:module|name) 'node:fs'/),
    'bad-console.ts': expect.stringContaining("Cannot find name 'console'"),
    'bad-network.ts': expect.stringContaining("Cannot find name 'fetch'"),
    'bad-process.ts': expect.stringContaining("Cannot find name 'process'"),
    'bad-random.ts': expect.stringContaining("Cannot find name 'crypto'"),
    'bad-timer.ts': expect.stringContaining("Cannot find name 'setTimeout'"),
  });
});

it('accepts the domain', () => {
  expect(errorsOf([join(domain, 'src/index.ts'), join(domain, 'src/testing/index.ts')])).toEqual({});
});

/** The options that `tsc -b` uses in packages/domain. */
function compilerOptions(): ts.CompilerOptions {
  const file = join(domain, 'tsconfig.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: unknown };
  return ts.parseJsonConfigFileContent(config, ts.sys, domain).options;
}

/** The compiler's errors by file. */
function errorsOf(files: readonly string[]): Record<string, string> {
  // A fixture's files are in another folder, and no output is needed.
  const options = { ...compilerOptions(), rootDir: repository, composite: false, noEmit: true };
  delete options.tsBuildInfoFile;
  const program = ts.createProgram(files, options);
  const errors = ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => [
      file?.fileName.slice(file.fileName.lastIndexOf('/') + 1) ?? 'options',
      ts.flattenDiagnosticMessageText(messageText, '\n'),
    ]);
  return Object.fromEntries(errors) as Record<string, string>;
}
