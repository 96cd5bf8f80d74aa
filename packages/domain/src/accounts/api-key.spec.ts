import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BASE62 } from '../kernel/base62.js';
import { type Instant, instant } from '../kernel/clock.js';
import { PredictableCryptography } from '../testing/index.js';
import { endOf, endOfReplaced, environmentOf, generateKeyText, hasEnded, keyName, keyState } from './api-key.js';
import { crc32 } from './crc32.js';

/** CRC-32 in six digits of base62. */
function checksum(text: string): string {
  return [5, 4, 3, 2, 1, 0].map((place) => BASE62.charAt(Math.floor(crc32(text) / 62 ** place) % 62)).join('');
}

describe('a key’s text', () => {
  const cryptography = new PredictableCryptography();

  it('names its environment and carries 190 bits of randomness and a checksum', () => {
    expect(generateKeyText('live', cryptography)).toMatch(/^aas_live_[0-9A-Za-z]{38}$/);
    expect(environmentOf(generateKeyText('staging', cryptography))).toBe('staging');
  });

  it('uses each of the 62 characters about equally often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 2_000; round += 1) {
      for (const character of generateKeyText('live', cryptography).slice(9, 41)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    const expected = (2_000 * 32) / 62;
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected / 4);
  });

  it('is invalid when one character is changed', () => {
    const text = generateKeyText('live', cryptography);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-'),
        (index, character) => {
          fc.pre(text[index] !== character);
          expect(environmentOf(text.slice(0, index) + character + text.slice(index + 1))).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    ['letters of an environment', `aas_${'x'.repeat(16)}_${'0'.repeat(32)}`, 'x'.repeat(16)],
    ['an environment of 17 letters', `aas_${'x'.repeat(17)}_${'0'.repeat(32)}`, undefined],
    ['no environment', `aas__${'0'.repeat(32)}`, undefined],
    ['an environment in capitals', `aas_LIVE_${'0'.repeat(32)}`, undefined],
    ['31 characters of randomness', `aas_live_${'0'.repeat(31)}`, undefined],
    ['33 characters of randomness', `aas_live_${'0'.repeat(33)}`, undefined],
    ['a character that base62 has not', `aas_live_-${'0'.repeat(31)}`, undefined],
    ['something before it', `xaas_live_${'0'.repeat(32)}`, undefined],
  ])('with the right checksum and %s is judged by its form', (_what, body, environment) => {
    expect(environmentOf(body + checksum(body))).toBe(environment);
  });

  it('is checked by the CRC-32 that zip and gzip use', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    expect(crc32('')).toBe(0);
  });
});

describe('a key', () => {
  const at = (time: number | undefined): Instant | undefined => (time === undefined ? undefined : instant(time));

  it.each([
    ['active', undefined, undefined, undefined],
    ['expired', 10, undefined, undefined],
    ['active', 11, undefined, undefined],
    ['revoked', undefined, 10, undefined],
    ['revoked', 5, 7, undefined],
    ['revoked', undefined, 11, undefined],
    ['expired', 11, 11, undefined],
    ['disabled', undefined, undefined, 12],
    ['disabled', 11, undefined, 9],
    ['expired', 10, undefined, 9],
    ['revoked', undefined, 10, 9],
  ])('is %s at 10 with expiry %s, revocation %s and disabled at %s', (state, expiresAt, revokedAt, disabledAt) => {
    const key = { expiresAt: at(expiresAt), revokedAt: at(revokedAt), disabledAt: at(disabledAt) };
    expect(keyState(key, instant(10))).toBe(state);
    expect(hasEnded(key, instant(10))).toBe(state === 'expired' || state === 'revoked');
  });

  it.each([
    [undefined, undefined, undefined],
    [5, undefined, 5],
    [undefined, 7, 7],
    [5, 7, 5],
    [7, 5, 5],
  ])('with expiry %s and revocation %s ends at %s, the earlier of both', (expiresAt, revokedAt, end) => {
    expect(endOf({ expiresAt: at(expiresAt), revokedAt: at(revokedAt) })).toBe(end);
  });

  it.each([
    [11, undefined, 'active'],
    [10, 10, 'expired'],
    [9, 9, 'expired'],
  ])('replaced at 10 and to end at %d is revoked at %s: %s', (endsAt, revokedAt, state) => {
    const end = endOfReplaced(instant(endsAt), instant(10));
    expect(end).toEqual({ expiresAt: endsAt, revokedAt });
    expect(keyState({ ...end, disabledAt: undefined }, instant(10))).toBe(state);
  });

  it('may have no name, or one of 1 to 100 characters that can be read', () => {
    for (const name of [undefined, 'x', ' x ', 'x'.repeat(100)]) expect(keyName(name)).toBe(name);
    for (const name of ['', ' \t', 'x'.repeat(101), 'a\u0007b', '\u009f']) {
      expect(() => keyName(name)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    }
  });
});
