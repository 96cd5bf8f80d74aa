import { afterAll, expect, it } from '@jest/globals';
import { restrictionsIn, rulesOf } from './lint.js';
import { removeTrees } from './trees.js';

afterAll(removeTrees);

it('refuses a domain with its own clock, randomness or I/O, and nothing else', async () => {
  const findings = await restrictionsIn('domain-lint', 'packages/domain');
  expect(findings.map(({ place, rule, message }) => `${place} ${rule ?? message}`)).toEqual([
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
    const rules = await rulesOf(workspace, 'any.spec.ts');
    expect(JSON.stringify(rules['no-restricted-syntax'])).toContain('a focused test switches off all others');
  },
);
