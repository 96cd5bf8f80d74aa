import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { HOUR, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { inMemoryPorts, PredictableCryptography } from '../testing/index.js';
import { environmentOf, generateKeyText, keyState, unrecordedUse } from './api-key.js';
import { crc32 } from './crc32.js';
import { describePlan, limitsOf, plan, type PlanName } from './plan.js';

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

  it('is checked by the CRC-32 that zip and gzip use', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    expect(crc32('')).toBe(0);
  });
});

describe('a plan', () => {
  it.each<[PlanName, number, number]>([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('%s allows %d requests a minute and %d a day', (name, perMinute, perDay) => {
    expect(limitsOf(plan(name))).toEqual({ perMinute, perDay });
  });

  it('enterprise allows the limits it was given', () => {
    expect(describePlan(plan('enterprise', { perMinute: 5, perDay: 7 }))).toBe('enterprise (5 a minute, 7 a day)');
  });

  it.each([
    ['enterprise without numbers', 'enterprise', {}],
    ['enterprise with one number', 'enterprise', { perMinute: 5 }],
    ['enterprise with a zero', 'enterprise', { perMinute: 0, perDay: 5 }],
    ['enterprise with a fraction', 'enterprise', { perMinute: 1.5, perDay: 5 }],
    ['another plan with numbers', 'pro', { perMinute: 5, perDay: 5 }],
    ['a plan that does not exist', 'gold', {}],
  ])('%s is refused', (_what, name, limits) => {
    expect(() => plan(name as PlanName, limits)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  });
});

describe('an account', () => {
  it('is the same however its address is written', async () => {
    const { openAccount } = setUp();
    const [one, other] = [
      await openAccount.execute({ email: EMAIL }),
      await openAccount.execute({ email: 'Dev@Example.COM' }),
    ];
    expect(other).toEqual(one);
  });

  it('is on the free plan unless another is given', async () => {
    const { openAccount } = setUp();
    expect((await openAccount.execute({ email: EMAIL })).plan).toEqual({ name: 'free' });
    expect((await openAccount.execute({ email: 'pro@example.com', plan: plan('pro') })).plan).toEqual({ name: 'pro' });
  });

  it('is not opened again with a different plan', async () => {
    const { openAccount } = setUp();
    await openAccount.execute({ email: EMAIL });
    await expect(openAccount.execute({ email: EMAIL, plan: plan('pro') })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining('free (60 a minute, 1000 a day)'),
    });
  });

  it('changes its plan for all of its keys, from the next request on', async () => {
    const { issue, changePlan, authenticate } = setUp();
    const keys = [await issue(), await issue()];
    const changed = await changePlan.execute({ email: 'DEV@example.com', plan: plan('pro') });
    expect(changed).toMatchObject({ email: EMAIL, plan: { name: 'pro' } });
    for (const { text } of keys) expect((await authenticate.execute(text)).account).toEqual(changed);
  });

  it('that does not exist cannot change its plan', async () => {
    const { changePlan, listKeys, openAccount } = setUp();
    await expect(changePlan.execute({ email: EMAIL, plan: plan('pro') })).rejects.toMatchObject({ code: 'not_found' });
    await expect(changePlan.execute({ email: 'dev', plan: plan('pro') })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    expect(await listKeys.execute()).toEqual([]);
    expect((await openAccount.execute({ email: EMAIL })).plan).toEqual({ name: 'free' });
  });

  it.each(['', 'dev', '@example.com', 'dev@', 'dev@example', 'a b@example.com', `${'x'.repeat(250)}@a.bc`, 'a@b@c.d'])(
    'is not opened for %j',
    async (email) => {
      await expect(setUp().openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
    },
  );
});

describe('a key', () => {
  it('authenticates its account', async () => {
    const { issue, authenticate } = setUp();
    const { text, key } = await issue({ name: 'laptop' });
    expect(await authenticate.execute(text)).toMatchObject({
      account: { email: EMAIL },
      key: { id: key.id, name: 'laptop' },
    });
  });

  it('records the minute of its last successful use, and no refused request', async () => {
    const { issue, authenticate, listKeys, revokeKey, clock } = setUp();
    const { text, key } = await issue();
    const lastUsedAt = async () => (await listKeys.execute())[0]?.key.lastUsedAt;
    expect(await lastUsedAt()).toBeUndefined();
    const start = clock.now();
    clock.advance(61 * SECOND);
    await authenticate.execute(text);
    expect(await lastUsedAt()).toBe(later(start, MINUTE));
    clock.set(start);
    await authenticate.execute(text);
    expect(await lastUsedAt()).toBe(later(start, MINUTE));
    await revokeKey.execute({ id: key.id });
    clock.advance(HOUR);
    await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'revoked_api_key' });
    expect(await lastUsedAt()).toBe(later(start, MINUTE));
  });

  it.each([
    [undefined, 0, 0],
    [undefined, 3 * MINUTE - 1, 2 * MINUTE],
    [MINUTE, 2 * MINUTE - 1, undefined],
    [MINUTE, 2 * MINUTE, 2 * MINUTE],
    [MINUTE, 0, undefined],
  ])('last used at %s has, used at %d, the minute %s to record', (lastUsedAt, now, minute) => {
    const known = lastUsedAt === undefined ? undefined : instant(lastUsedAt);
    expect(unrecordedUse({ lastUsedAt: known }, instant(now))).toBe(minute);
  });

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
    const counted = createApplication({ ...ports, apiKeys: counting as unknown as typeof ports.apiKeys }).authenticate;
    const unknown = generateKeyText('live', ports.cryptography);
    await expect(authenticate.execute(unknown)).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(counted.execute(`${unknown.slice(0, -1)}-`)).rejects.toMatchObject({ code: 'invalid_api_key' });
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

  it('works until it expires, and never afterwards', async () => {
    const { issue, authenticate, clock } = setUp();
    const expiresAt = later(clock.now(), HOUR);
    const { text } = await issue({ expiresAt });
    clock.set(instant(expiresAt - 1));
    await expect(authenticate.execute(text)).resolves.toBeDefined();
    clock.set(expiresAt);
    await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'expired_api_key' });
  });

  it('is not issued with a past expiry or an unreadable name', async () => {
    const { issue, clock } = setUp();
    await expect(issue({ expiresAt: clock.now() })).rejects.toMatchObject({ code: 'invalid_parameter' });
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

  it('that is unknown cannot be revoked or rotated', async () => {
    const { revokeKey, rotateKey } = setUp();
    await expect(revokeKey.execute({ id: 99n })).rejects.toMatchObject({ code: 'not_found' });
    await expect(rotateKey.execute({ id: 99n })).rejects.toMatchObject({ code: 'not_found' });
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

  it.each([-1, 31 * 24 * HOUR, Number.NaN])('is not rotated with an overlap of %d ms', async (overlap) => {
    await expect(setUp().rotateKey.execute({ id: 1n, overlap })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  it('is shown while it is active; past keys are shown in pages of 25, the latest end first', async () => {
    const { issue, showKeys, revokeKey, clock } = setUp();
    const { key: lasting } = await issue();
    const { accountId } = lasting;
    const { key: expired } = await issue({ expiresAt: later(clock.now(), SECOND) });
    const past: bigint[] = [expired.id];
    for (let count = 0; count < 55; count += 1) {
      clock.advance(MINUTE);
      const { key } = await issue();
      await revokeKey.execute({ id: key.id });
      past.unshift(key.id);
    }
    const { key: newest } = await issue();
    const walked: bigint[][] = [];
    let page = await showKeys.execute({ accountId });
    for (;;) {
      expect(page.active.map(({ id }) => id)).toEqual([newest.id, lasting.id]);
      walked.push(page.past.map(({ id }) => id));
      if (page.next === undefined) break;
      page = await showKeys.execute({ accountId, before: page.next });
    }
    expect(walked).toEqual([past.slice(0, 25), past.slice(25, 50), past.slice(50)]);
  });

  it('can be read only by its own account', async () => {
    const { issue, getKey, openAccount } = setUp();
    const { key } = await issue();
    const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
    expect(await getKey.execute({ id: key.id, accountId: key.accountId })).toEqual(key);
    for (const input of [
      { id: key.id, accountId },
      { id: 99n, accountId: key.accountId },
    ]) {
      await expect(getKey.execute(input)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('is listed by its account’s address', async () => {
    const { issue, listKeys } = setUp();
    const { key } = await issue();
    expect((await listKeys.execute({ email: 'DEV@example.com' })).map((each) => each.key.id)).toEqual([key.id]);
    expect(await listKeys.execute({ email: 'nobody@example.com' })).toEqual([]);
  });

  it.each([
    ['active', undefined, undefined],
    ['expired', 10, undefined],
    ['active', 11, undefined],
    ['revoked', undefined, 10],
    ['revoked', 5, 7],
    ['revoked', undefined, 11],
    ['expired', 11, 11],
  ])('is %s at 10 with expiry %s and revocation %s', (state, expiresAt, revokedAt) => {
    const at = (time: number | undefined) => (time === undefined ? undefined : instant(time));
    expect(keyState({ expiresAt: at(expiresAt), revokedAt: at(revokedAt) }, instant(10))).toBe(state);
  });
});
