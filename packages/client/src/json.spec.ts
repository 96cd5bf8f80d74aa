import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { int64Properties } from './generated.js';
import { fromJson, toJson } from './json.js';

describe('JSON', () => {
  it('returns every int64 exactly, as a bigint', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(fc.constantFrom(...int64Properties), int64, (name, value) => {
        expect(toJson({ [name]: value })).toBe(`{"${name}":${value}}`);
        expect(fromJson(`[{ "a" : [ { "${name}" : ${value} } ] }]`)).toEqual([{ a: [{ [name]: value }] }]);
      }),
    );
  });

  it('reads only integers of the int64 names as bigints', () => {
    const others = { id: 'id', petId: null, categoryId: 1.5, status: 404, list: [1] };
    expect(fromJson(JSON.stringify(others))).toEqual(others);
  });
});
