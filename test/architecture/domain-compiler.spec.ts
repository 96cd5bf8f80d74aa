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

it('refuses a domain that uses anything of Node or of a browser', () => {
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

it('takes the domain as it is', () => {
  expect(errorsOf([join(domain, 'src/index.ts'), join(domain, 'src/testing/index.ts')])).toEqual({});
});

/** As `tsc -b` has them in packages/domain. */
function compilerOptions(): ts.CompilerOptions {
  const file = join(domain, 'tsconfig.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: unknown };
  return ts.parseJsonConfigFileContent(config, ts.sys, domain).options;
}

/** What the compiler says of each file it refuses. */
function errorsOf(files: readonly string[]): Record<string, string> {
  // The files of a fixture lie elsewhere, and nothing is to be written.
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
