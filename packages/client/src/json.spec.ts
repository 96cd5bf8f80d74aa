import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { int64Properties } from './generated.js';
import { fromJson, toJson } from './json.js';

describe('JSON', () => {
  const names = [...int64Properties];
  // `__proto__` in an object literal sets the prototype, so it can't be used as a property name here.
  const otherName = fc.string().filter((name) => !int64Properties.has(name) && name !== '__proto__');
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  const scalar = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), double);

  it('returns every int64 exactly, as a bigint', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(fc.constantFrom(...names), int64, (name, value) => {
        expect(toJson({ [name]: value })).toBe(`{"${name}":${value}}`);
        expect(fromJson(`[{ "a" : [ { "${name}" : ${value} } ] }]`)).toEqual([{ a: [{ [name]: value }] }]);
      }),
    );
  });

  it('equals that of JSON.parse and JSON.stringify if there is no int64', () => {
    const plain = fc.dictionary(otherName, fc.oneof(scalar, fc.array(scalar)), { noNullPrototype: true });
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value);
        expect(toJson(value)).toBe(text);
        expect(fromJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('reads only integers of the int64 names as bigints', () => {
    const others = { id: 'id', petId: null, categoryId: 1.5, status: 404, list: [1] };
    expect(fromJson(JSON.stringify(others))).toEqual(others);
  });

  it.each(['', '{', '<html>', '{"id":1}x', '{"id":01}'])('refuses %j', (text) => {
    expect(() => fromJson(text)).toThrow(SyntaxError);
  });
});
