import { afterAll, expect, it } from '@jest/globals';
import { restrictionsIn, rulesOf } from './lint.js';
import { removeTrees } from './trees.js';

afterAll(removeTrees);

it('refuses the use of undocumented parts of frameworks, and nothing else', async () => {
  const findings = await restrictionsIn('inside-frameworks', 'packages/infrastructure');
  expect(findings.map(({ place, message }) => `${place} ${reason(message)}`)).toEqual([
    "bad.ts:1 pg's wire protocol is internal to pg",
    "bad.ts:2 a path into a package is private: import it by the package's name",
    'bad.ts:3 set V8 flags where Node.js is started',
    "bad.ts:6 pg's wire protocol is internal to pg",
    'bad.ts:7 no mutable state in a module: keep it in the object that it belongs to',
    'bad.ts:8 no mutable state in a module: keep it in the object that it belongs to',
    'bad.ts:9 set V8 flags where Node.js is started',
    "bad.ts:10 don't extend Node's HTTP and network classes",
    "bad.ts:11 don't extend the classes of Node's HTTP or of pg's connections",
    'bad.ts:16 a member that begins with _ is private',
    "bad.ts:17 don't replace another object's method",
    "bad.ts:18 don't change another class's prototype",
    "bad.ts:19 don't change an object's internals",
    'bad.ts:20 the module cache is private',
    'bad.ts:21 the module loader is private',
    "bad.ts:21 don't change an object's internals",
  ]);
});

// The fixture above shows that the rules work.
it.each([
  ...['api', 'cli', 'portal', 'worker'].map((name) => `apps/${name}`),
  ...['client', 'config', 'domain', 'embedded-postgres', 'infrastructure', 'telemetry', 'web'].map(
    (name) => `packages/${name}`,
  ),
])('refuses the same in %s', async (workspace) => {
  const rules = await rulesOf(workspace, 'src/any.ts');
  expect(JSON.stringify(rules['no-restricted-syntax'])).toContain('a member that begins with _ is private');
  expect(JSON.stringify(rules['no-restricted-imports'])).toContain('a path into a package is private');
});

/** ESLint's message without its first part, which names the restricted import. */
function reason(message: string): string {
  return message.replace(/^'[^']+' import is restricted from being used by a pattern\. /, '');
}
