import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BASE62 } from '../../kernel/base62.js';
import { DAY, HOUR, type Instant, instant, later } from '../../kernel/clock.js';
import { anAccount } from '../../testing/builders.js';
import { decisions, PredictableCryptography } from '../../testing/index.js';
import type { AccountId } from '../account.js';
import type { AccountMailId } from '../mails/account-mail.js';
import { NOTICE_TTL } from '../mails/notice.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideKeySwitch,
  decideIssue,
  decideRenaming,
  decideRevocation,
  decideRotation,
  decideRollback,
  endOf,
  hasEnded,
  type KeyHolder,
  keyName,
  keyState,
  MOST_ACTIVE_KEYS,
  MOST_KEYS_A_DAY,
  requireTheirs,
} from './api-key.js';
import { crc32, environmentOf, generateKeyText } from './api-key-text.js';
import { type Actor, type Authority, requireAuthority } from './authority.js';

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
    ['revoked', undefined, 11, undefined],
    ['expired', 11, 11, undefined],
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

  it('may have no name, or one of 1 to 100 characters that can be read', () => {
    for (const name of [undefined, 'x', ' x ', 'x'.repeat(100)]) expect(keyName(name)).toBe(name);
    for (const name of ['', ' \t', 'x'.repeat(101), 'a\u0007b', '\u009f', '\u200b\u2060']) {
      expect(() => keyName(name)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    }
  });
});

describe('decisions on keys', () => {
  const [THEIRS, OTHERS] = [1n as AccountId, 2n as AccountId];
  const NOW = instant(Date.UTC(2026, 0, 1));
  const [EARLIER, SOON, LATE] = [later(NOW, -HOUR), later(NOW, HOUR), later(NOW, 60 * DAY)];
  const account = anAccount({ id: THEIRS, credentialVersion: 3 });
  const text = { hash: 'another hash', ending: 'stuv' };
  const key: ApiKey = {
    id: 7n as ApiKeyId,
    accountId: THEIRS,
    hash: 'a hash',
    ending: 'wxyz',
    name: 'till',
    scopes: ['pets:read'],
    createdAt: EARLIER,
    expiresAt: undefined,
    revokedAt: undefined,
    disabledAt: undefined,
    replacedBy: undefined,
    lastUsedAt: EARLIER,
  };
  const lasting = { ...key, expiresAt: LATE };
  const expired = { ...key, expiresAt: NOW };
  const revoked = { ...key, revokedAt: EARLIER };
  const disabled = { ...key, disabledAt: EARLIER };
  const revokedNow = { ...key, revokedAt: NOW };
  const id = { id: key.id };
  const theirs = { ...id, accountId: THEIRS };
  const others = { ...id, accountId: OTHERS };
  const ofVersion2 = { ...theirs, credentialVersion: 2 };
  const ofVersion3 = { ...theirs, credentialVersion: 3 };
  const of = (changed: ApiKey | undefined) => ({ account, key: changed });
  const closed = { account: undefined, key };
  const no = 'no API key has the id 7';
  const at = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, command: Command) => decide(state, command, NOW));

  describe('a new one', () => {
    const given = decisions({ it, expect }, decideIssue);
    const few: KeyHolder = { account, activeKeys: MOST_ACTIVE_KEYS - 1, madeToday: MOST_KEYS_A_DAY - 1 };
    const draft = { accountId: THEIRS, name: undefined, scopes: undefined, createdAt: NOW, expiresAt: LATE, ...text };
    const noticeId = 'mail_1' as AccountMailId;
    const issue = { key: draft, noticeId };
    const [active, today] = ['has 25 API keys that are active or disabled', 'has made 1000 API keys today'];
    const full = { ...few, activeKeys: 25 };
    const busy = { ...few, madeToday: 1_000 };
    const nobody = { ...few, account: undefined };
    given('24 keys and 999 made today', few).when('one is issued', issue).then('it is', { key: draft });
    const proven = { ...account, provenAt: NOW };
    const mail = { id: noticeId, accountId: account.id, kind: 'key', address: account.email } as const;
    const about = `the key that ends in ${text.ending}`;
    const notice = { ...mail, about, createdAt: NOW, expiresAt: later(NOW, NOTICE_TTL) };
    given('a proven address', { ...few, account: proven })
      .when('one is issued', issue)
      .then('it is told', { key: draft, notice });
    given('25 keys', full).when('one is issued', issue).thenRefused('too_many_keys', active);
    given('1,000 made today', busy).when('one is issued', issue).thenRefused('too_many_keys', today);
    given('no account', nobody).when('one is issued', issue).thenRefused('not_found', 'id 1');
    const [inVersion2, inVersion3] = [
      { ...issue, credentialVersion: 2 },
      { ...issue, credentialVersion: 3 },
    ];
    given('the version 3', few).when('3 is wanted', inVersion3).then('it is issued', { key: draft });
    given('the version 3', few).when('2 is wanted', inVersion2).thenRefused('signed_out');
  });

  describe('a rotation', () => {
    const given = at(decideRotation);
    const state = (old: ApiKey | undefined) => ({ account, activeKeys: 1, madeToday: 1, old });
    const noticeId = 'mail_1' as AccountMailId;
    const rotate = { ...theirs, overlap: HOUR, text, noticeId };
    const atOnce = { ...rotate, overlap: 0 };
    const anybodys = { ...id, overlap: HOUR, text, noticeId };
    const byOthers = { ...rotate, ...others };
    const { accountId, name, scopes } = key;
    const replacement = { accountId, name, scopes, createdAt: NOW, expiresAt: undefined, ...text };
    const ending = { ...key, expiresAt: SOON };
    const ended = { ...key, expiresAt: NOW, revokedAt: NOW };
    const none = 'no active API key that has not been rotated yet has the id 7';

    given('a key', state(key)).when('it is rotated', rotate).then('the old one overlaps', { old: ending, replacement });
    given('a key', state(key)).when('it is, at once', atOnce).then('it is also revoked', { old: ended, replacement });
    given('a key', state(key)).when('anybody’s is', anybodys).then('it is rotated', { old: ending, replacement });
    it('tells the address, if it is proven', () => {
      const ofProven = { ...state(key), account: { ...account, provenAt: NOW } };
      const told = {
        id: noticeId,
        kind: 'rotated',
        about: expect.stringContaining(text.ending),
        address: account.email,
      };
      expect(decideRotation(ofProven, rotate, NOW).notice).toMatchObject(told);
    });
    const lastingToo = { ...replacement, expiresAt: LATE };
    given('a key that expires late', state(lasting))
      .when('it is rotated', rotate)
      .then('its replacement does', { old: ending, replacement: lastingToo });
    const brief = { ...key, expiresAt: later(NOW, 1) };
    const briefToo = { ...replacement, expiresAt: later(NOW, 1) };
    given('a key that expires soon', state(brief))
      .when('it is rotated', rotate)
      .then('neither lives longer', { old: brief, replacement: briefToo });

    const full = { account, activeKeys: 25, madeToday: 1, old: key };
    const overfull = { account, activeKeys: 26, madeToday: 1, old: key };
    const busy = { account, activeKeys: 1, madeToday: 1_000, old: key };
    given('25 keys', full).when('one is rotated', rotate).thenRefused('too_many_keys');
    given('25 keys', full).when('one is rotated at once', atOnce).then('there are 25', { old: ended, replacement });
    given('26 keys', overfull).when('one is rotated at once', atOnce).thenRefused('too_many_keys');
    given('1,000 made today', busy).when('one is rotated', atOnce).thenRefused('too_many_keys');

    const rotated = { ...lasting, replacedBy: 8n as ApiKeyId };
    const ofClosed = { account: undefined, activeKeys: 1, madeToday: 1, old: key };
    const inVersion2 = { ...rotate, credentialVersion: 2 };
    given('no key', state(undefined)).when('it is rotated', rotate).thenRefused('not_found', none);
    given('a revoked key', state(revoked)).when('it is rotated', rotate).thenRefused('not_found', none);
    given('an expired key', state(expired)).when('it is rotated', rotate).thenRefused('not_found', none);
    given('a disabled key', state(disabled)).when('it is rotated', rotate).thenRefused('not_found', none);
    given('a key that is rotated', state(rotated)).when('it is again', rotate).thenRefused('not_found', none);
    given('a closed account', ofClosed).when('one is rotated', rotate).thenRefused('not_found', none);
    given('a key', state(key)).when('others rotate it', byOthers).thenRefused('not_found', none);
    given('the version 3', state(key)).when('2 is wanted', inVersion2).thenRefused('signed_out');
    given('the version 3', state(key))
      .when('others rotate it', { ...byOthers, credentialVersion: 2 })
      .thenRefused('not_found', none);
  });

  describe('taking one back', () => {
    const given = at(decideRollback);
    const unseen = { ...lasting, id: 8n as ApiKeyId };
    const gone = { ...unseen, revokedAt: NOW };
    const replaced = (changes: Partial<ApiKey>) => ({ ...key, replacedBy: unseen.id, ...changes });
    const overlapping = { key: unseen, replaced: replaced({ expiresAt: SOON }) };
    const atOnce = { key: unseen, replaced: replaced({ expiresAt: NOW, revokedAt: NOW }) };
    const revokedSince = { key: unseen, replaced: replaced({ expiresAt: SOON, revokedAt: NOW }) };
    const stillRevoked = { ...lasting, revokedAt: NOW };
    const first = { key: unseen, replaced: undefined };
    given('one that replaces none', first).when('it is rolled back', unseen).then('it is revoked', { key: gone });
    given('one that has replaced another', overlapping)
      .when('it is rolled back', unseen)
      .then('the other works until its former end', { key: gone, replaced: lasting });
    given('one that has replaced another at once', atOnce)
      .when('it is rolled back', unseen)
      .then('the other works', { key: gone, replaced: lasting });
    given('one that has replaced one revoked since', revokedSince)
      .when('it is rolled back', unseen)
      .then('the other stays revoked', { key: gone, replaced: stillRevoked });
    given('no key', { key: undefined, replaced: undefined }).when('it is rolled back', unseen).thenRefused('not_found');
  });

  describe('a revocation', () => {
    const given = at(decideRevocation);
    const expiredToo = { ...expired, revokedAt: NOW };
    given('a key', of(key)).when('it is revoked', theirs).then('it is from now on', revokedNow);
    given('a key', of(key)).when('anybody’s is revoked', id).then('it is', revokedNow);
    given('a revoked key', of(revoked)).when('it is revoked', theirs).then('its first instant stays', revoked);
    given('an expired key', of(expired)).when('it is revoked', theirs).then('it is', expiredToo);
    given('the version 3', of(key)).when('2 is wanted', ofVersion2).thenRefused('signed_out');
    given('a closed account', closed).when('3 is wanted', ofVersion3).thenRefused('signed_out');
    given('a key', of(key)).when('others revoke it', others).thenRefused('not_found', no);
    given('no key', of(undefined)).when('it is revoked', id).thenRefused('not_found', no);
  });

  describe('disabling', () => {
    const given = at(decideKeySwitch);
    const disable = { ...theirs, isDisabled: true };
    const enable = { ...theirs, isDisabled: false };
    const byOthers = { ...others, isDisabled: true };
    const inVersion2 = { ...enable, credentialVersion: 2 };
    const disabledNow = { ...key, disabledAt: NOW };
    const none = 'no API key that still works has the id 7';
    given('a key', of(key)).when('it is disabled', disable).then('it is from now on', disabledNow);
    given('a disabled key', of(disabled)).when('it is disabled', disable).then('its first instant stays', disabled);
    given('a disabled key', of(disabled)).when('it is enabled', enable).then('it is', key);
    given('a key', of(key)).when('it is enabled', enable).then('it stays as it is', key);
    given('a revoked key', of(revoked)).when('it is enabled', enable).thenRefused('not_found', none);
    given('an expired key', of(expired)).when('it is disabled', disable).thenRefused('not_found', none);
    given('no key', of(undefined)).when('it is disabled', disable).thenRefused('not_found', none);
    given('the version 3', of(disabled)).when('2 is wanted', inVersion2).thenRefused('signed_out');
    given('a key', of(key)).when('others disable it', byOthers).thenRefused('not_found', none);
  });

  describe('renaming', () => {
    const given = decisions({ it, expect }, decideRenaming);
    const rename = { ...theirs, name: 'desk' };
    const unname = { ...theirs, name: undefined };
    const byOthers = { ...others, name: 'desk' };
    const inVersion2 = { ...rename, credentialVersion: 2 };
    const [renamed, unnamed, revokedDesk] = [
      { ...key, name: 'desk' },
      { ...key, name: undefined },
      { ...revoked, name: 'desk' },
    ];
    given('a key', of(key)).when('it is renamed', rename).then('it is', renamed);
    given('a key', of(key)).when('its name goes', unname).then('it has none', unnamed);
    given('a revoked key', of(revoked)).when('it is renamed', rename).then('it is', revokedDesk);
    given('the version 3', of(key)).when('2 is wanted', inVersion2).thenRefused('signed_out');
    given('a key', of(key)).when('others rename it', byOthers).thenRefused('not_found', no);
    given('no key', of(undefined)).when('it is renamed', rename).thenRefused('not_found', no);
  });

  describe('the authority of a request when its change is stored', () => {
    const given = decisions({ it, expect }, (state: Authority, actor: Actor) => {
      requireAuthority(actor, state, ['pets:read', 'orders:read'], NOW);
    });
    const all = { ...key, scopes: undefined };
    const both = { account, key: all };
    const nothing = { account: undefined, key: undefined };
    const held = anAccount({ scopes: ['orders:read'] });
    const [byKey, byPerson, byFormer] = [{ keyId: key.id }, { credentialVersion: 3 }, { credentialVersion: 2 }];
    given('a key', both).when('it asks', byKey).then('it may', undefined);
    given('the version 3', both).when('3 asks', byPerson).then('it may', undefined);
    given('nothing', nothing).when('the operator asks', 'operator').then('it is fine', undefined);
    given('no key', of(undefined)).when('it asks', byKey).thenRefused('invalid_api_key');
    given('a closed account', { account: undefined, key: all })
      .when('its key asks', byKey)
      .thenRefused('invalid_api_key');
    given('a revoked key', of(revoked)).when('it asks', byKey).thenRefused('revoked_api_key');
    given('an expired key', of(expired)).when('it asks', byKey).thenRefused('expired_api_key');
    given('a disabled key', of(disabled)).when('it asks', byKey).thenRefused('disabled_api_key');
    const [keyLacks, accountLacks] = [
      'the API key lacks the scope orders:read',
      'the account lacks the scope pets:read',
    ];
    given('a key without a scope', of(key)).when('it asks', byKey).thenRefused('insufficient_scope', keyLacks);
    given('an account without a scope', { account: held, key: all })
      .when('its key asks', byKey)
      .thenRefused('insufficient_scope', accountLacks);
    given('an account without a scope', { account: held, key: undefined })
      .when('a person asks', byPerson)
      .thenRefused('insufficient_scope', accountLacks);
    given('the version 3', both).when('2 asks', byFormer).thenRefused('signed_out');
    given('a closed account', nothing).when('a person asks', byPerson).thenRefused('signed_out');
  });

  describe('showing', () => {
    const given = decisions({ it, expect }, requireTheirs);
    given('a key', key).when('its account asks', theirs).then('it is shown', key);
    given('a key', key).when('others ask', others).thenRefused('not_found', no);
  });
});
