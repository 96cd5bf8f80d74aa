import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';

const repository = join(__dirname, '../..');
/** They never serve. */
const TOOLS = ['packages/test-support', 'packages/tooling'];
const WORKSPACES = ['apps', 'packages']
  .flatMap((parent) => readdirSync(join(repository, parent)).map((name) => `${parent}/${name}`))
  .filter((workspace) => !TOOLS.includes(workspace));
const INTERNALS = "don't change an object's internals";
const MUTABLE = 'no mutable state in a module';
const FOCUSED = 'a focused test switches off all others';

/** Refused in every workspace: code, and the reason. */
const REFUSED = [
  [`import { serialize } from 'pg-protocol';`, "pg's wire protocol is internal"],
  [`import { type Submittable } from 'pg';`, "pg's wire protocol is internal"],
  [`import { DataSource } from 'typeorm/data-source/DataSource.js';`, 'a path into a package is private'],
  [`import { setFlagsFromString } from 'node:v8';`, 'set V8 flags where Node.js is started'],
  [`setFlagsFromString('--no-opt');`, 'set V8 flags where Node.js is started'],
  [`export let latest = '';`, MUTABLE],
  [`var count = 0;`, MUTABLE],
  [`class Request extends IncomingMessage {}`, "don't extend Node's HTTP and network classes"],
  [`class Client extends pg.Client {}`, "don't extend the classes of Node's HTTP or of pg's connections"],
  [`response._storeHeader();`, 'a member that begins with _ is private'],
  [`response.end = () => response;`, "don't replace another object's method"],
  [`IncomingMessage.prototype.resume = 1;`, "don't change another class's prototype"],
  [`Object.defineProperty(response, 'statusCode', {});`, INTERNALS],
  [`Object.create(response);`, INTERNALS],
  [`delete require.cache[module];`, 'the module cache is private'],
  [`new Module(module);`, 'the module loader is private'],
] as const;

/** Refused in the domain alone. */
const WORLDLY = ['Date.now();', 'new Date();', 'Date();', 'Math.random();'];

const FOCUSED_TESTS = [`it.only('x', () => undefined);`, `describe.only.each([1])('x', () => undefined);`];

const ALLOWED = [
  `import { DataSource } from 'typeorm';`,
  `import { readFile } from 'node:fs/promises';`,
  `class Source { private readonly _kept = 1; read() { let size = this._kept; return (size += 1); } }`,
  `new Date(0);`,
  `Math.round(0.5);`,
];

let found: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

beforeAll(() => {
  const sources = [...REFUSED.map(([code]) => code), ...WORLDLY, ...ALLOWED];
  const pieces = [
    ...sources.map((code) => ({ file: 'src/any.ts', code })),
    ...FOCUSED_TESTS.map((code) => ({ file: 'src/any.spec.ts', code })),
  ];
  const args = JSON.stringify({ repository, workspaces: [...WORKSPACES, 'test'], pieces });
  const output = execFileSync(process.execPath, [join(__dirname, 'lint.js'), args], { cwd: repository });
  found = JSON.parse(output.toString()) as typeof found;
});

it.each(WORKSPACES)('refuses the undocumented parts of frameworks in %s', (workspace) => {
  for (const [code, reason] of REFUSED)
    expect([code, found[workspace]?.[code]]).toEqual([code, expect.arrayContaining([expect.stringContaining(reason)])]);
});

it('refuses a domain with its own clock or randomness', () => {
  expect(WORLDLY.filter((code) => found['packages/domain']?.[code]?.length !== 1)).toEqual([]);
});

it.each([...WORKSPACES, 'test'])('refuses a focused test in %s', (workspace) => {
  for (const code of FOCUSED_TESTS) expect([code, found[workspace]?.[code]]).toEqual([code, [FOCUSED]]);
});

it('refuses nothing else', () => {
  expect(ALLOWED.flatMap((code) => found['packages/infrastructure']?.[code])).toEqual([]);
});
