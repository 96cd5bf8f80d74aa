import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NewAnimalBody } from '../../src/animals/animal.schema.js';
import { bodyFrom } from '../../src/http/operations/json-body.decorator.js';
import { type JsonValue, MAX_DEPTH, parseJson } from '../../src/http/operations/strict-json.js';

const parse = (text: string) => parseJson(Buffer.from(text));
const refusal = (rule: string | RegExp) =>
  expect.objectContaining({ code: 'invalid_json', message: expect.stringMatching(rule) });

/** The result of JSON.parse, with integers as the strict parser returns them. */
function expected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expected(each)]));
  }
  return typeof value === 'number' && /^(?=.{1,20}$)-?\d+$/.test(String(value)) ? BigInt(String(value)) : value;
}

const isAcceptable = (text: string) => !/__proto__|constructor|\\u0000|\\ud[89a-f]/i.test(text);

describe('a strict JSON parser', () => {
  it('reads every value JSON.parse reads, integers as bigints', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8, stringUnit: 'grapheme' }),
        fc.constantFrom(undefined, 1, '\t', ' \n'),
        (json, space) => {
          const text = JSON.stringify(JSON.parse(json), null, space);
          fc.pre(isAcceptable(text));
          expect(parse(text)).toEqual(expected(JSON.parse(text)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('refuses every text JSON.parse refuses', () => {
    const almostJson = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom('', '"', ',', '{', '}', '[', ']', ':', '1', '\\', '\n', 'e', '.', '-'),
      )
      .map(([json, at, piece]) => {
        const index = at % (json.length + 1);
        return json.slice(0, index) + piece + json.slice(index + (at % 2));
      });
    fc.assert(
      fc.property(almostJson, (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        if (!isJson) expect(() => parse(text)).toThrow(refusal(''));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, JsonValue]>([
    ['1.0', 1],
    ['1e3', 1_000],
    ['-0', 0n],
    ['123456789012345678901', 123456789012345680000],
  ])('distinguishes %s from an integer of 64 bits', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  it.each(['{"a":1,}', '[1,]', '{a:1}', '{"a" 1}', '[1 2]', '{"a":1}{}', '{,}', '\ufeff\ufeff{}', '/**/{}'])(
    'refuses %j, naming the position',
    (text) => {
      expect(() => parse(text)).toThrow(refusal(/at position \d+$/));
    },
  );

  it.each([
    ['{"a":1,"a":1}', 'has the property "a" twice'],
    ['[{"x":{"b":1,"\\u0062":2}}]', 'has the property "b" twice'],
    ['{"__proto__":{}}', 'must not have a property "__proto__"'],
    ['{"\\u005f_proto__":1}', 'must not have a property "__proto__"'],
    ['{"constructor":{"prototype":{}}}', 'must not have a property "constructor"'],
    ['"\\u0000"', 'must not contain U\\+0000'],
    ['{"\\u0000":1}', 'must not contain U\\+0000'],
    ['"\\ud83d"', 'must not contain a lone surrogate'],
  ])('refuses %s', (text, rule) => {
    expect(() => parse(text)).toThrow(refusal(rule));
  });

  it('accepts text that only looks forbidden', () => {
    const text = '{"constructor":1,"prototype":{},"toString":"\\ud83d\\udc08"}';
    expect(parse(text)).toEqual({ constructor: 1n, prototype: {}, toString: '🐈' });
  });

  it.each(['22ff22', '22c08022', '22eda08022', '22e28222'])('refuses the bytes %s, which are not UTF-8', (bytes) => {
    expect(() => parseJson(Buffer.from(bytes, 'hex'))).toThrow(refusal('is not valid UTF-8'));
  });

  it(`accepts ${MAX_DEPTH} levels and no more`, () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parse(nested(MAX_DEPTH))).not.toThrow();
    expect(() => parse(nested(MAX_DEPTH + 1))).toThrow(refusal('deeper than 16 levels'));
    expect(() => parse('{"a":'.repeat(30_000))).toThrow(refusal('deeper than 16 levels'));
  });
});

describe('a body of a request', () => {
  it.each<[string, (size: number) => string]>([
    ['many keys', (size) => `{${Array.from({ length: size / 8 }, (_, index) => `"k${index}":1`).join()}}`],
    [
      'keys that begin alike',
      (size) => `{${Array.from({ length: size / 32 }, (_, index) => `"${'a'.repeat(20)}${index}":1`).join()}}`,
    ],
    ['deep arrays', (size) => `{"name":[${`${'['.repeat(13)}1${']'.repeat(13)},`.repeat(size / 28)}1]}`],
    ['many escapes', (size) => `{"name":"${'\\n'.repeat(size / 2)}"}`],
    ['white space in a name', (size) => `{"name":"${' '.repeat(size)}x","categoryId":1}`],
    ['a long number', (size) => '9'.repeat(size)],
    ['a long array', (size) => `{"name":[${'0,'.repeat(size / 2)}0]}`],
  ])('is parsed and validated at a cost that grows linearly with its bytes: %s', (_what, bodyOf) => {
    const bodies = [4_096, 65_536].map((size) => Buffer.from(bodyOf(size)));
    const costOf = (bytes: Buffer) => {
      const before = performance.now();
      try {
        const value = parseJson(bytes);
        if (typeof value === 'object' && value !== null && !Array.isArray(value)) bodyFrom(NewAnimalBody, value);
      } catch {
        // A refused text has been parsed too.
      }
      return performance.now() - before;
    };
    // Other work on the machine only adds time, so the shortest of many rounds counts.
    let [small, large] = [Infinity, Infinity];
    for (let round = 0; round < 500 && (round < 9 || large > 100 * small); round += 1) {
      const [smaller = NaN, larger = NaN] = bodies.map(costOf);
      // Differences of microseconds are noise.
      small = Math.min(small, Math.max(smaller, 0.02));
      large = Math.min(large, larger);
    }
    // Sixteen times the bytes: linear is 16, quadratic 256.
    expect(large).toBeLessThan(100 * small);
  });
});
