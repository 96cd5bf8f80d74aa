import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const domain = join(__dirname, '../../packages/domain');

/** Sources that need more than the language, and what the compiler says. */
const WORLDLY = [
  ['export const page = document.title;', /Cannot find name 'document'/],
  ["export { readFileSync } from 'node:fs';", /Cannot find (?:module|name) 'node:fs'/],
  ["console.log('Luna');", /Cannot find name 'console'/],
  ["export const answer = fetch('https://example.com');", /Cannot find name 'fetch'/],
  ['export const environment = process.env;', /Cannot find name 'process'/],
  ['export const id = crypto.randomUUID();', /Cannot find name 'crypto'/],
  ['export const timer = setTimeout(() => undefined, 1);', /Cannot find name 'setTimeout'/],
] as const;

it("gives the domain the language's own types only: no Node, no browser", () => {
  const { types, lib } = compilerOptions();
  expect({ types, lib }).toEqual({ types: [], lib: ['lib.es2023.d.ts'] });
});

it('refuses a domain that uses Node or a browser', () => {
  const sources = new Map(WORLDLY.map(([text], index) => [join(domain, `src/worldly-${index}.ts`), text]));
  const options = { ...compilerOptions(), noEmit: true };
  const host = ts.createCompilerHost(options);
  const onDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (path, target) => {
    const text = sources.get(path);
    return text === undefined ? onDisk(path, target) : ts.createSourceFile(path, text, target);
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  const errors = [...sources.keys()].map((path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
  expect(errors).toEqual(WORLDLY.map(([, error]) => [expect.stringMatching(error)]));
});

/** The options that `tsc -b` uses in packages/domain. */
function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(domain, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  return ts.parseJsonConfigFileContent(config, ts.sys, domain).options;
}
