import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { BASE62 } from '../kernel/base62.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, startOf } from '../kernel/clock.js';
import { inMemoryPorts, PredictableCryptography } from '../testing/index.js';
import { endOf, endOfReplaced, environmentOf, generateKeyText, hasEnded, keyName, keyState } from './api-key.js';
import { crc32 } from './crc32.js';
import { createApplication } from '../application.js';

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

describe('keys of an account', () => {
  const EMAIL = 'dev@example.com';

  function setUp() {
    const ports = inMemoryPorts();
    const application = createApplication(ports);
    const issue = async (input: { name?: string; expiresAt?: ReturnType<typeof instant> } = {}) => {
      const account = await application.openAccount.execute({ email: EMAIL });
      return application.issueKey.execute({ accountId: account.id, ...input });
    };
    return { ...application, ports, clock: ports.clock, issue };
  }

  it('are purged 400 days after they were revoked or expired, and active ones never', async () => {
    const { clock, issue, revokeKey, listKeys, purgeExpired } = setUp();
    const [lasting, revoked] = [await issue(), await issue()];
    await revokeKey.execute({ id: revoked.key.id });
    const expiring = await issue({ expiresAt: later(clock.now(), DAY) });
    const ids = async () => (await listKeys.execute()).map(({ key }) => key.id);
    clock.advance(400 * DAY - 1);
    expect(await purgeExpired.execute('keys')).toBe(0);
    clock.advance(1);
    expect(await purgeExpired.execute('keys')).toBe(1);
    expect(await ids()).toEqual([lasting.key.id, expiring.key.id]);
    clock.advance(DAY);
    expect(await purgeExpired.execute('keys')).toBe(1);
    expect(await ids()).toEqual([lasting.key.id]);
  });

  it('are at most 25 active ones, those being rotated included, and 1,000 made on one UTC day', async () => {
    const { issue, rotateKey, ports } = setUp();
    const { key } = await issue();
    const [add, replace] = [jest.spyOn(ports.apiKeys, 'add'), jest.spyOn(ports.apiKeys, 'replace')];
    await issue();
    await rotateKey.execute({ id: key.id });
    expect(add.mock.calls[0]?.slice(1)).toEqual([25, undefined, 1_000]);
    expect(replace.mock.calls[0]?.slice(3)).toEqual([25, undefined, 1_000]);
  });

  describe('a key', () => {
    it('is stored only as a hash', async () => {
      const { issue, listKeys } = setUp();
      const { text } = await issue();
      const kept = JSON.stringify(await listKeys.execute(), (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      );
      expect(kept).not.toContain(text.slice(9, 41));
    });

    it('that was never issued is refused, without a look-up if its checksum is wrong', async () => {
      const { ports, authenticate } = setUp();
      let lookUps = 0;
      const counting = { ...ports.apiKeys, findByHash: () => Promise.resolve((lookUps += 1) && undefined) };
      const counted = createApplication({
        ...ports,
        apiKeys: counting as unknown as typeof ports.apiKeys,
      }).authenticate;
      const unknown = generateKeyText('live', ports.cryptography);
      await expect(authenticate.execute(unknown)).rejects.toMatchObject({ code: 'invalid_api_key' });
      await expect(counted.execute(`${unknown.slice(0, -1)}-`)).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is not valid',
      });
      expect(lookUps).toBe(0);
      await expect(counted.execute(unknown)).rejects.toMatchObject({ code: 'invalid_api_key' });
      expect(lookUps).toBe(1);
    });

    it('is looked up and checked for each request', async () => {
      const { ports, authenticate, issue, clock } = setUp();
      const expiresAt = later(clock.now(), HOUR);
      const { text } = await issue({ expiresAt });
      const findByHash = jest.spyOn(ports.apiKeys, 'findByHash');
      await authenticate.execute(text);
      await authenticate.execute(text);
      expect(findByHash).toHaveBeenCalledTimes(2);
      clock.set(expiresAt);
      await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'expired_api_key' });
    });

    it('of another environment is refused with a message that says so', async () => {
      const { ports, authenticate } = setUp();
      await expect(authenticate.execute(generateKeyText('staging', ports.cryptography))).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is for the staging environment, this is live',
      });
    });

    it('is not issued with a past expiry or an unreadable name', async () => {
      const { issue, clock } = setUp();
      await expect(issue({ expiresAt: clock.now() })).rejects.toMatchObject({ code: 'invalid_parameter' });
      expect(await issue({ expiresAt: later(clock.now(), 1) })).toMatchObject({ key: { expiresAt: clock.now() + 1 } });
      await expect(issue({ name: ' ' })).rejects.toMatchObject({ code: 'invalid_parameter' });
      await expect(issue({ name: 'a\u0007b' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('is refused once revoked, and revoking it again changes nothing', async () => {
      const { issue, authenticate, revokeKey, clock } = setUp();
      const { text, key } = await issue();
      const revoked = await revokeKey.execute({ id: key.id });
      await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'revoked_api_key' });
      clock.advance(HOUR);
      expect(await revokeKey.execute({ id: key.id })).toEqual(revoked);
    });

    it('that is deleted while it is being revoked is not found', async () => {
      const { issue, revokeKey, ports } = setUp();
      const { key } = await issue();
      jest.spyOn(ports.apiKeys, 'revoke').mockResolvedValue(undefined);
      await expect(revokeKey.execute({ id: key.id })).rejects.toMatchObject({ code: 'not_found' });
    });

    it('works for 24 hours beside its replacement, and then no more', async () => {
      const { issue, authenticate, rotateKey, clock } = setUp();
      const old = await issue({ name: 'ci' });
      const replacement = await rotateKey.execute({ id: old.key.id });
      expect(replacement.key.name).toBe('ci');
      clock.advance(24 * HOUR - 1);
      await expect(authenticate.execute(old.text)).resolves.toBeDefined();
      clock.advance(1);
      await expect(authenticate.execute(old.text)).rejects.toMatchObject({ code: 'expired_api_key' });
      await expect(authenticate.execute(replacement.text)).resolves.toBeDefined();
    });

    it('never lives longer because it is rotated', async () => {
      const { issue, rotateKey, listKeys, clock } = setUp();
      const expiresAt = later(clock.now(), HOUR);
      const old = await issue({ expiresAt });
      await rotateKey.execute({ id: old.key.id });
      expect((await listKeys.execute()).map(({ key }) => key.expiresAt)).toEqual([expiresAt, expiresAt]);
    });

    it('is rotated only once, and never after it was revoked', async () => {
      const { issue, rotateKey, revokeKey } = setUp();
      const [once, revoked] = [await issue(), await issue()];
      await rotateKey.execute({ id: once.key.id });
      await expect(rotateKey.execute({ id: once.key.id })).rejects.toMatchObject({ code: 'not_found' });
      await revokeKey.execute({ id: revoked.key.id });
      await expect(rotateKey.execute({ id: revoked.key.id })).rejects.toMatchObject({ code: 'not_found' });
    });

    it('works beside the one that replaces it for as long as was said, 30 days at the most', async () => {
      const { issue, rotateKey, authenticate, clock } = setUp();
      const expiresAt = later(clock.now(), 60 * DAY);
      const [long, short] = [await issue({ expiresAt }), await issue({ expiresAt })];
      const replacement = await rotateKey.execute({ id: long.key.id, overlap: 30 * DAY });
      expect(replacement.key.expiresAt).toBe(expiresAt);
      await rotateKey.execute({ id: short.key.id, overlap: 0 });
      await expect(authenticate.execute(short.text)).rejects.toMatchObject({ code: 'expired_api_key' });
      clock.advance(30 * DAY - 1);
      await expect(authenticate.execute(long.text)).resolves.toBeDefined();
      clock.advance(1);
      await expect(authenticate.execute(long.text)).rejects.toMatchObject({ code: 'expired_api_key' });
    });

    it('whose text could not be shown is taken back, and the one that it replaced goes on as it was', async () => {
      const { issue, rotateKey, takeBackKey, authenticate, listKeys, clock } = setUp();
      const old = await issue({ expiresAt: later(clock.now(), 60 * DAY) });
      const replacement = await rotateKey.execute({ id: old.key.id });
      await takeBackKey.execute(replacement);
      await expect(authenticate.execute(replacement.text)).rejects.toMatchObject({ code: 'revoked_api_key' });
      expect((await listKeys.execute())[0]?.key).toEqual(old.key);
      await takeBackKey.execute(old);
      await expect(authenticate.execute(old.text)).rejects.toMatchObject({ code: 'revoked_api_key' });
    });

    it.each([-1, 30 * DAY + 1, Number.NaN])('is not rotated with an overlap of %d ms', async (overlap) => {
      await expect(setUp().rotateKey.execute({ id: 1n, overlap })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('is shown in pages of 25, newest first, forwards and back, by state and name', async () => {
      const { issue, showKeys, revokeKey, disableKey, clock } = setUp();
      const { key: lasting } = await issue({ name: 'Shop' });
      const { accountId } = lasting;
      const all: bigint[] = [lasting.id];
      for (let count = 0; count < 55; count += 1) {
        clock.advance(MINUTE);
        const { key } = await issue();
        await revokeKey.execute({ id: key.id });
        all.unshift(key.id);
      }
      const show = async (input: Partial<Parameters<typeof showKeys.execute>[0]> = {}) => {
        const { items, ...page } = await showKeys.execute({ accountId, ...input });
        return { ids: items.map(({ id }) => id), ...page };
      };
      const first = await show();
      const second = await show({ after: first.next });
      const last = await show({ after: second.next });
      expect([first.ids, second.ids, last.ids]).toEqual([all.slice(0, 25), all.slice(25, 50), all.slice(50)]);
      expect([first.previous, last.next]).toEqual([undefined, undefined]);
      expect(await show({ before: last.previous })).toEqual(second);
      expect(await show({ before: second.previous })).toEqual(first);
      // Less than a page lies in front of it.
      expect(await show({ before: all[3] })).toEqual(first);
      expect((await show({ states: ['active', 'disabled'] })).ids).toEqual([lasting.id]);
      expect((await show({ name: 'sho' })).ids).toEqual([lasting.id]);
      await disableKey.execute({ id: lasting.id, isDisabled: true });
      expect((await show({ states: ['active'] })).ids).toEqual([]);
      expect((await show({ states: ['disabled'] })).ids).toEqual([lasting.id]);
    });

    it('is shown with the end of its ban, and with what it has called', async () => {
      const { issue, ports, showKeys, showKey, authenticate, recordRequest, meterRequest, revokeKey, clock } = setUp();
      const [{ key, text }, other] = [await issue(), await issue()];
      const { accountId } = key;
      const caller = await authenticate.execute(text);
      recordRequest.execute(caller, { isUse: true, operation: 'list' });
      for (let sent = 0; sent < 60 + 50; sent += 1) await meterRequest.execute(caller);
      const until = later(clock.now(), 5 * MINUTE);
      const bansOf = jest.spyOn(ports.requests, 'bansOf');
      expect((await showKeys.execute({ accountId })).bans).toEqual(new Map([[key.id, until]]));
      expect(bansOf).toHaveBeenCalledTimes(1);
      expect(await showKey.execute({ id: key.id, accountId })).toMatchObject({
        key: { id: key.id },
        bannedUntil: until,
        operations: [{ operation: 'list', lastUsedAt: startOf(MINUTE, clock.now()) }],
      });
      expect(await showKey.execute({ id: other.key.id, accountId })).toMatchObject({
        bannedUntil: undefined,
        operations: [],
      });
      await expect(showKey.execute({ id: 99n, accountId })).rejects.toMatchObject({ code: 'not_found' });
      await revokeKey.execute({ id: key.id });
      expect((await showKeys.execute({ accountId })).bans).toEqual(new Map());
      expect((await showKey.execute({ id: key.id, accountId })).bannedUntil).toBeUndefined();
    });

    it('is shown with the operations that it calls, until it has ended', async () => {
      const { issue, recordRequest, showKeys, listOperations, revokeKey, clock } = setUp();
      const [{ key }, { key: other }] = [await issue(), await issue()];
      const { id, accountId } = key;
      recordRequest.execute({ accountId, keyId: id }, { isUse: true, operation: 'list' });
      const uses = [{ operation: 'list', lastUsedAt: startOf(MINUTE, clock.now()) }];
      expect((await showKeys.execute({ accountId })).operations).toEqual(new Map([[id, uses]]));
      expect(await listOperations.execute([other, await revokeKey.execute({ id })])).toEqual(new Map());
    });

    it('is disabled and enabled again, and refused meanwhile', async () => {
      const { issue, disableKey, rotateKey, authenticate } = setUp();
      const { key, text } = await issue();
      const { id, accountId } = key;
      expect(await disableKey.execute({ id, accountId, isDisabled: true })).toMatchObject({ id });
      await expect(authenticate.execute(text)).rejects.toMatchObject({
        code: 'disabled_api_key',
        kind: 'unauthenticated',
      });
      await expect(rotateKey.execute({ id, accountId })).rejects.toMatchObject({ code: 'not_found' });
      await disableKey.execute({ id, isDisabled: false });
      expect(await authenticate.execute(text)).toMatchObject({ keyId: id });
    });

    it('can’t be disabled once it has ended, and is then told as ended, not as disabled', async () => {
      const { issue, disableKey, revokeKey, authenticate, clock } = setUp();
      const [{ key: revoked, text }, { key: expired, text: expiredText }] = [
        await issue(),
        await issue({ expiresAt: later(clock.now(), MINUTE) }),
      ];
      for (const { id } of [revoked, expired]) await disableKey.execute({ id, isDisabled: true });
      await revokeKey.execute({ id: revoked.id });
      clock.advance(MINUTE);
      for (const { id } of [revoked, expired])
        for (const isDisabled of [true, false]) {
          await expect(disableKey.execute({ id, isDisabled })).rejects.toMatchObject({ code: 'not_found' });
        }
      await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'revoked_api_key' });
      await expect(authenticate.execute(expiredText)).rejects.toMatchObject({ code: 'expired_api_key' });
    });

    it('gets another name', async () => {
      const { issue, renameKey, showKey } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id, accountId } = key;
      expect(await renameKey.execute({ id, accountId, name: 'desk' })).toEqual({ ...key, name: 'desk' });
      expect((await showKey.execute({ id, accountId })).key.name).toBe('desk');
      expect(await renameKey.execute({ id, accountId, name: undefined })).toMatchObject({ name: undefined });
      for (const name of ['', ' ', 'x'.repeat(101), 'a\nb']) {
        await expect(renameKey.execute({ id, accountId, name })).rejects.toMatchObject({ code: 'invalid_parameter' });
      }
    });

    it('can be changed, shown and listed only by its own account', async () => {
      const { issue, renameKey, disableKey, showKey, revokeKey, rotateKey, listKeys, openAccount } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
      for (const id of [key.id, 99n]) {
        const theirs = { id, accountId };
        for (const attempt of [
          renameKey.execute({ ...theirs, name: 'mine' }),
          disableKey.execute({ ...theirs, isDisabled: true }),
          revokeKey.execute(theirs),
          rotateKey.execute(theirs),
          showKey.execute(theirs),
        ]) {
          await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
        }
      }
      const listed = async (input: object) => (await listKeys.execute(input)).map((each) => each.key.id);
      expect(await listed({ accountId: key.accountId })).toEqual([key.id]);
      expect(await listed({ email: 'DEV@example.com' })).toEqual([key.id]);
      for (const other of [{ accountId }, { email: 'nobody@example.com' }]) expect(await listed(other)).toEqual([]);
      expect((await showKey.execute({ id: key.id, accountId: key.accountId })).key).toEqual(key);
    });
  });
});
