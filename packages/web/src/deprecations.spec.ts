import { DAY, later, MINUTE } from '@adoption-store/domain';
import { expect, it } from '@jest/globals';
import { deprecatedUses, getPetDeprecation } from './deprecations.js';

const { operation, since } = getPetDeprecation;

it.each([
  ['since the deprecation', since, later(since, MINUTE), 1],
  ['before the deprecation', later(since, -MINUTE), later(since, MINUTE), 0],
  ['35 days ago', later(since, DAY), later(since, 36 * DAY), 1],
  ['more than 35 days ago', later(since, DAY), later(since, 36 * DAY + MINUTE), 0],
])('a key uses a deprecated operation if it has called it: %s', (_when, lastUsedAt, now, found) => {
  const uses = [
    { operation: 'GET /v1/pets', lastUsedAt },
    { operation, lastUsedAt },
  ];
  const expected = { deprecation: getPetDeprecation, lastUsedAt };
  expect(deprecatedUses(uses, now)).toEqual(Array.from({ length: found }, () => expected));
});
