import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BASE62, randomBase62 } from './base62.js';
import { readInstant } from './clock.js';
import { checkAll, DomainError, invalid, kernelErrors } from './errors.js';
import { int64From, isInt64 } from './int64.js';
import { type PagePart, type PageRequest, readPage } from './page.js';
import { reasonOf } from './reason-of.js';
import { escapeInvisible, escapeInvisibleInJson, hasAtMostCodePoints, hasVisible, isStorable } from './text.js';

describe('random text', () => {
  it('gives each character four of the 256 bytes, and draws again for the eight that remain', () => {
    const descending = { randomBytes: () => Uint8Array.from({ length: 256 }, (_, index) => 255 - index) };
    const text = randomBase62(248, { ...descending, sha256: String });
    const times = Array.from(BASE62, (character) => text.split(character).length - 1);
    expect(text.charAt(0)).toBe(BASE62.charAt(247 % 62));
    expect(times).toEqual(Array.from({ length: 62 }, () => 4));
  });

  it('has exactly the length that was asked for', () => {
    const ascending = { randomBytes: () => Uint8Array.from({ length: 256 }, (_, index) => index), sha256: String };
    for (const length of [0, 1, 62, 248, 249, 600]) expect(randomBase62(length, ascending)).toHaveLength(length);
  });
});

describe('a time', () => {
  it.each([
    ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00.000Z'],
    ['2026-11-21t12:00:00.1239z', '2026-11-21T12:00:00.123Z'],
    ['2026-11-21 12:00:00-00:00', '2026-11-21T12:00:00.000Z'],
    ['2024-02-29T23:30:00-01:00', '2024-03-01T00:30:00.000Z'],
    ['2000-02-29T00:00:00+23:59', '2000-02-28T00:01:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ])('is read from RFC 3339: %s', (text, wanted) => {
    expect(new Date(readInstant('since', text)).toJSON()).toBe(wanted);
  });

  it.each([
    // Dates that don't exist, which Date takes for later ones.
    ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00'].map(
      (date) => `${date}T00:00:00Z`,
    ),
    ...['24:00:00', '12:60:00', '23:59:60'].map((time) => `2026-01-01T${time}Z`),
    ...['', 'z0', '+24:00', '+0100', '+01:60', ' UTC'].map((offset) => `2026-01-01T00:00:00${offset}`),
    ...['2026-01-01', '2026-01-01T00:00Z', '2026-01-01T00:00:00.Z', 'yesterday', '', ' 2026-01-01T00:00:00Z'],
    // In UTC their years have no four digits.
    ...['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'],
  ])('is not read from %j', (text) => {
    const refusal = 'since must be a time that exists, such as 2026-11-21T12:00:00Z';
    expect(() => readInstant('since', text)).toThrow(refusal);
  });
});

describe('text', () => {
  it('is measured in code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: -1, max: 1 }), (text, more) => {
        const length = [...text].length;
        expect(hasAtMostCodePoints(text, length + more)).toBe(more >= 0);
      }),
      { numRuns: 30 },
    );
  });

  it('can be stored unless it has U+0000 or a lone surrogate', () => {
    expect(['', 'Luna', '🐈', '\u0001\uffff'].filter((text) => !isStorable(text))).toEqual([]);
    expect(['\0', '\ud83d', '\udc08', '\udc08\ud83d'].filter(isStorable)).toEqual([]);
  });

  it('can’t be seen if Unicode calls it white space, a mark, control, format or default ignorable, or if its glyph is blank', () => {
    const blank = [0x2800, 0x13441, 0x13442, 0x16fe4, 0x1d159].map((each) => String.fromCodePoint(each));
    const wrong = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).filter((character) => {
      const isBlank = blank.includes(character) || /[\s\p{M}\p{Cc}\p{Cf}\p{DI}]/u.test(character);
      return hasVisible(character) === isBlank;
    });
    expect(wrong).toEqual([]);
    expect(['\u3164\u115f a \ufe0f', 'a\u0301', '\u0915\u093f', '5\u20e3'].filter((text) => !hasVisible(text))).toEqual(
      [],
    );
    expect(['\u0301', ' \u0301\u20dd', '\u05b8\u3164'].filter(hasVisible)).toEqual([]);
  });

  it('is printed with all of that but spaces escaped', () => {
    const text = 'a\u200bb\u00adc \u{e0001}\u3164\n\u2800\u00a0 👩\u200d🚀';
    expect(escapeInvisible(text)).toBe(String.raw`a\u{200B}b\u{AD}c \u{E0001}\u{3164}\u{A}\u{2800}\u{A0} 👩\u{200D}🚀`);
    for (const visible of ['Rex, the dog', 'Zoe\u0308']) expect(escapeInvisible(visible)).toBe(visible);
  });

  it('is escaped in JSON without a change of its value', () => {
    const value = { name: 'a\u200bb \u{e0001}\n\u009b', id: 'Zoe\u0308' };
    const json = escapeInvisibleInJson(JSON.stringify(value));
    expect(json).toBe('{"name":"a\\u200bb \\udb40\\udc01\\n\\u009b","id":"Zoe\u0308"}');
    expect(JSON.parse(json)).toEqual(value);
  });
});

describe('an int64', () => {
  it.each([-9_223_372_036_854_775_808n, 0n, 9_223_372_036_854_775_807n])('may be %d', (value) => {
    expect(isInt64(value)).toBe(true);
  });

  it.each([-9_223_372_036_854_775_809n, 9_223_372_036_854_775_808n, 5, '5', null, undefined])(
    'is not %p',
    (value: unknown) => {
      expect(isInt64(value)).toBe(false);
    },
  );

  it.each(['0', '5', '-5', '-9223372036854775808', '9223372036854775807'])('is read from %j', (text) => {
    expect(int64From(text)).toBe(BigInt(text));
  });

  it.each(['', ' 5', '5 ', '05', '-05', '1.0', '1e3', '0x5', '9223372036854775808', '10000000000000000000', 5])(
    'is not read from %j',
    (text) => {
      expect(int64From(text)).toBeUndefined();
    },
  );
});

describe('input', () => {
  const refuse = (error: Error) => (): never => {
    throw error;
  };

  it('is refused with the problems of all its fields, in order', () => {
    const checks = { a: refuse(invalid('a', 'must be small')), b: () => 2, c: refuse(invalid('c', 'must be red')) };
    const [a, c] = [
      { field: 'a', rule: 'must be small' },
      { field: 'c', rule: 'must be red' },
    ];
    const refusal = { code: 'invalid_parameter', message: 'a must be small; c must be red', problems: [a, c] };
    expect(() => checkAll(checks)).toThrow(expect.objectContaining(refusal));
  });

  it('is refused with a message of at most five problems', () => {
    const checks = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, refuse(invalid(name, 'is bad'))]),
    );
    const message = 'a is bad; b is bad; c is bad; d is bad; e is bad and 2 more';
    expect(() => checkAll(checks)).toThrow(message);
  });

  it('that breaks no rule is returned; another error is passed on', () => {
    expect(checkAll({ a: () => 1, b: () => 'two' })).toEqual({ a: 1, b: 'two' });
    const gone = new DomainError(kernelErrors.service_unavailable, 'gone');
    expect(() => checkAll({ a: refuse(invalid('a', 'must be small')), b: refuse(gone) })).toThrow(gone);
  });
});

describe('a page', () => {
  const sizes = [fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 12 })] as const;
  const listOf = (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const read = async ({ after = 0, before, limit }: PagePart<number>) =>
      before === undefined
        ? ids.filter((id) => id > after).slice(0, limit)
        : ids.filter((id) => id < before).slice(-limit);
    return (place: PageRequest<number>) => readPage<number, number>(place, (id) => id, read);
  };

  it('is the same on the way back as on the way there', async () => {
    await fc.assert(
      fc.asyncProperty(...sizes, async (count, limit) => {
        const page = listOf(count);
        let current = await page({ limit });
        expect(current.previous).toBeUndefined();
        const walked = [...current.items];
        while (current.next !== undefined) {
          const next = await page({ after: current.next, limit });
          expect(await page({ before: next.previous, limit })).toEqual(current);
          walked.push(...next.items);
          current = next;
        }
        expect(walked).toHaveLength(count);
      }),
    );
  });

  it('in front of any item is the first one, or full; only the last one has no next', async () => {
    await fc.assert(
      fc.asyncProperty(...sizes, fc.integer({ min: 1, max: 31 }), async (count, limit, before) => {
        const page = listOf(count);
        const { items, next, previous } = await page({ before, limit });
        expect(items[0]).toBe(Math.max(1, Math.min(before, count + 1) - limit));
        expect(items).toHaveLength(Math.min(limit, count));
        expect(previous).toBe(items[0] === 1 ? undefined : items[0]);
        expect(next).toBe(items.at(-1) === count ? undefined : items.at(-1));
      }),
    );
  });
});

it('an error is told by its message alone, and several by those of each', () => {
  expect(reasonOf(Object.assign(new Error('refused'), { sent: 'secret' }))).toBe('refused');
  expect(reasonOf(new AggregateError([new Error('refused'), 'away'], 'all'))).toBe('refused; away');
});

it('the reason why the service is unavailable is that of its cause, not what clients are told', () => {
  const cause = new AggregateError([new Error('No space left on device')]);
  const told = 'try again later';
  expect(reasonOf(new DomainError(kernelErrors.service_unavailable, told, { cause }))).toBe('No space left on device');
  expect(reasonOf(new DomainError(kernelErrors.service_unavailable, told))).toBe(told);
  expect(reasonOf(new Error('for operators', { cause }))).toBe('for operators');
});
