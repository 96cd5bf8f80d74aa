import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, startOf } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { generateKeyText } from './api-key.js';
import { deprecatedUses, getPetDeprecation } from './deprecation.js';
import { plan } from './plan.js';

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

  it.each([
    ...['', 'dev', '@example.com', 'dev@', 'dev@example', 'dev@.com', 'dev@example.', 'a@b@c.d', 'a@b.c@d'],
    ...[' dev@example.com', 'a b@example.com', 'dev@exa mple.com', 'dev@example.c om', 'dev@example.com '],
    ...['\0dev@example.com', 'dev@\0example.com', 'dev@example.\u009fcom', 'dev@example.com\0'],
    `${'x'.repeat(65)}@example.com`,
    `dev@${'x'.repeat(247)}.com`,
  ])('is not opened for %j', async (email) => {
    await expect(setUp().openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  it.each(['a@b.c', 'dev+1@mail.example.com', `${'x'.repeat(64)}@example.com`, `dev@${'x'.repeat(246)}.com`])(
    'is opened for %j',
    async (email) => {
      expect(await setUp().openAccount.execute({ email })).toMatchObject({ email });
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

  it('that is unknown cannot be revoked or rotated', async () => {
    const { revokeKey, rotateKey } = setUp();
    await expect(revokeKey.execute({ id: 99n })).rejects.toMatchObject({ code: 'not_found' });
    await expect(rotateKey.execute({ id: 99n })).rejects.toMatchObject({ code: 'not_found' });
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
    recordRequest.execute(caller, { isUse: true, operation: 'GET /v1/pets' });
    for (let sent = 0; sent < 60 + 50; sent += 1) await meterRequest.execute(caller);
    const until = later(clock.now(), 5 * MINUTE);
    const bansOf = jest.spyOn(ports.requests, 'bansOf');
    expect((await showKeys.execute({ accountId })).bans).toEqual(new Map([[key.id, until]]));
    expect(bansOf).toHaveBeenCalledTimes(1);
    expect(await showKey.execute({ id: key.id, accountId })).toMatchObject({
      key: { id: key.id },
      bannedUntil: until,
      operations: [{ operation: 'GET /v1/pets', lastUsedAt: startOf(MINUTE, clock.now()) }],
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

  describe('that calls a deprecated operation', () => {
    const { operation, since } = getPetDeprecation;
    const use = (lastUsedAt: Instant, name = operation) => ({ operation: name, lastUsedAt });

    it.each([
      ['since the deprecation', since, later(since, MINUTE), 1],
      ['before the deprecation', later(since, -MINUTE), later(since, MINUTE), 0],
      ['35 days ago', later(since, DAY), later(since, 36 * DAY), 1],
      ['more than 35 days ago', later(since, DAY), later(since, 36 * DAY + MINUTE), 0],
    ])('uses it: %s', (_when, lastUsedAt, now, found) => {
      const uses = [use(lastUsedAt, 'GET /v1/pets'), use(lastUsedAt)];
      const expected = { deprecation: getPetDeprecation, lastUsedAt };
      expect(deprecatedUses(uses, now)).toEqual(Array.from({ length: found }, () => expected));
    });

    it('is shown with it, until it has ended', async () => {
      const { issue, recordRequest, showKey, showKeys, showDeprecatedUses, revokeKey, clock } = setUp();
      const [{ key }, { key: other }] = [await issue(), await issue()];
      const { id, accountId } = key;
      recordRequest.execute({ accountId, keyId: id }, { isUse: true, operation });
      recordRequest.execute({ accountId, keyId: other.id }, { isUse: true, operation: 'GET /v1/pets' });
      const uses = [{ deprecation: getPetDeprecation, lastUsedAt: startOf(MINUTE, clock.now()) }];
      expect((await showKeys.execute({ accountId })).deprecated).toEqual(new Map([[id, uses]]));
      expect(await showDeprecatedUses.execute([other, key])).toEqual(new Map([[id, uses]]));
      expect((await showKey.execute({ id, accountId })).deprecated).toEqual(uses);
      expect((await showKey.execute({ id: other.id, accountId })).deprecated).toEqual([]);
      const revoked = await revokeKey.execute({ id });
      expect((await showKeys.execute({ accountId })).deprecated).toEqual(new Map());
      expect(await showDeprecatedUses.execute([other, revoked])).toEqual(new Map());
      expect((await showKey.execute({ id, accountId })).deprecated).toEqual([]);
    });
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
    const { issue, renameKey, getKey } = setUp();
    const { key } = await issue({ name: 'laptop' });
    const { id, accountId } = key;
    expect(await renameKey.execute({ id, accountId, name: 'desk' })).toEqual({ ...key, name: 'desk' });
    expect(await getKey.execute({ id, accountId })).toMatchObject({ name: 'desk' });
    expect(await renameKey.execute({ id, accountId, name: undefined })).toMatchObject({ name: undefined });
    for (const name of ['', ' ', 'x'.repeat(101), 'a\nb']) {
      await expect(renameKey.execute({ id, accountId, name })).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });

  it('can be changed only by its own account', async () => {
    const { issue, renameKey, disableKey, showKey, openAccount } = setUp();
    const { key } = await issue({ name: 'laptop' });
    const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
    const theirs = { id: key.id, accountId };
    for (const attempt of [
      renameKey.execute({ ...theirs, name: 'mine' }),
      disableKey.execute({ ...theirs, isDisabled: true }),
      showKey.execute(theirs),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
    }
    expect((await showKey.execute({ id: key.id, accountId: key.accountId })).key).toEqual(key);
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
});
