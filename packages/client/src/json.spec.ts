import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { int64Properties } from './generated.js';
import { fromJson, toJson } from './json.js';

const names = [...int64Properties];
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
// `__proto__` in an object literal sets the prototype, so it can't be used as a property name here.
const otherName = fc.string().filter((name) => !int64Properties.has(name) && name !== '__proto__');
const scalar = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any JSON value. Its int64 properties hold bigints or non-integers; no other property holds a bigint. */
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .tuple(
        fc.dictionary(otherName, tie('value'), { maxKeys: 3, noNullPrototype: true }),
        fc.dictionary(fc.constantFrom(...names), fc.oneof(int64, fc.string(), fc.constant(null)), {
          maxKeys: 2,
          noNullPrototype: true,
        }),
      )
      .map(([one, other]) => ({ ...one, ...other })),
  ),
}));

/** A large double is written as an integer, and -0 as 0. */
const positiveZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('JSON', () => {
  it('returns every int64 exactly, as a bigint', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), int64, (name, value) => {
        expect(toJson({ [name]: value })).toBe(`{"${name}":${value}}`);
        expect(fromJson(`[{ "a" : [ { "${name}" : ${value} } ] }]`)).toEqual([{ a: [{ [name]: value }] }]);
      }),
    );
  });

  it('returns any value unchanged', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = toJson(value);
        expect(toJson(fromJson(text))).toBe(text);
      }),
    );
  });

  it('equals that of JSON.parse and JSON.stringify if there is no int64', () => {
    const plain = fc.dictionary(otherName, fc.oneof(scalar, fc.array(scalar)), { noNullPrototype: true });
    fc.assert(
      fc.property(plain, (value) => {
        expect(toJson(value)).toBe(JSON.stringify(value));
        expect(fromJson(JSON.stringify(value))).toEqual(positiveZero(value));
      }),
    );
  });

  it('reads only integers of the int64 names as bigints', () => {
    expect(fromJson('{"id":"id","petId":null,"categoryId":1.5,"status":404,"list":[1]}')).toEqual({
      id: 'id',
      petId: null,
      categoryId: 1.5,
      status: 404,
      list: [1],
    });
  });

  it.each(['', '{', '<html>', '{"id":1}x', '{"id":01}'])('refuses %j', (text) => {
    expect(() => fromJson(text)).toThrow(SyntaxError);
  });
});
