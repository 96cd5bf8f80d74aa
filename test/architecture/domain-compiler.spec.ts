import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const domain = join(__dirname, '../../packages/domain');

it("gives the domain the language's own types only: no Node, no browser", () => {
  const { config } = ts.readConfigFile(join(domain, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const { types, lib } = ts.parseJsonConfigFileContent(config, ts.sys, domain).options;
  expect({ types, lib }).toEqual({ types: [], lib: ['lib.es2023.d.ts'] });
});
