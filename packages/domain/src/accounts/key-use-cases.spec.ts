import { describe, expect, it, jest } from '@jest/globals';
import { type ApplicationOptions, createApplication } from '../application.js';
import { DAY, HOUR, later, MINUTE, startOf } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { generateKeyText } from './keys/api-key-text.js';
import type { IssueKeyInput } from './keys/issue-key.js';

const EMAIL = 'dev@example.com';

function setUp(options?: ApplicationOptions) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, options);
  const issue = async (input: Omit<IssueKeyInput, 'accountId'> = {}) => {
    const { id: accountId } = await application.openAccount.execute({ email: EMAIL });
    return application.issueKey.execute({ accountId, ...input });
  };
  return { ...application, ports, clock: ports.clock, issue };
}

describe('keys of an account', () => {
  it('are purged 400 days after they ended, and active ones never', async () => {
    const { clock, issue, revokeKey, listKeys, purgeExpired } = setUp();
    const [lasting, revoked] = [await issue(), await issue()];
    await revokeKey.execute({ id: revoked.key.id });
    clock.advance(400 * DAY - 1);
    expect(await purgeExpired.execute('keys')).toBe(0);
    clock.advance(1);
    expect(await purgeExpired.execute('keys')).toBe(1);
    expect((await listKeys.execute()).map(({ key }) => key.id)).toEqual([lasting.key.id]);
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
      await expect((async () => authenticate.execute(unknown))()).rejects.toMatchObject({ code: 'invalid_api_key' });
      await expect((async () => counted.execute(`${unknown.slice(0, -1)}-`))()).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is not valid',
      });
      expect(lookUps).toBe(0);
      await expect((async () => counted.execute(unknown))()).rejects.toMatchObject({ code: 'invalid_api_key' });
      expect(lookUps).toBe(1);
    });

    it('is looked up and checked for each request', async () => {
      const { authenticate, issue, disableKey, revokeKey, clock } = setUp();
      const { key, text } = await issue({ expiresAt: later(clock.now(), HOUR) });
      const { id, accountId } = key;
      expect(await authenticate.execute(text)).toMatchObject({ keyId: id, accountId });
      expect(await disableKey.execute({ id, accountId, isDisabled: true })).toMatchObject({ id });
      const disabled = { code: 'disabled_api_key', kind: 'unauthenticated' };
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject(disabled);
      await disableKey.execute({ id, isDisabled: false });
      expect(await authenticate.execute(text)).toMatchObject({ keyId: id });
      clock.advance(HOUR);
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject({ code: 'expired_api_key' });
      clock.advance(1);
      await revokeKey.execute({ id });
      await expect((async () => authenticate.execute(text))()).rejects.toMatchObject({ code: 'revoked_api_key' });
    });

    it('of another environment is refused with a message that says so', async () => {
      const { ports, authenticate } = setUp();
      await expect(
        (async () => authenticate.execute(generateKeyText('staging', ports.cryptography)))(),
      ).rejects.toMatchObject({
        code: 'invalid_api_key',
        message: 'the API key is for the staging environment, this is live',
      });
    });

    it('is neither issued nor changed in a session of an earlier password', async () => {
      const { issue, listKeys, ...application } = setUp();
      const { key } = await issue({ credentialVersion: 0 });
      const theirs = { id: key.id, accountId: key.accountId, credentialVersion: 1 };
      for (const attempt of [
        () => issue({ credentialVersion: 1 }),
        () => application.rotateKey.execute(theirs),
        () => application.renameKey.execute({ ...theirs, name: 'other' }),
        () => application.disableKey.execute({ ...theirs, isDisabled: true }),
        () => application.revokeKey.execute(theirs),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'signed_out', kind: 'unauthenticated' });
      expect((await listKeys.execute()).map((each) => each.key)).toEqual([key]);
    });

    it('is not issued with a past expiry, an unreadable name or unknown scopes', async () => {
      const { issue, clock } = setUp();
      for (const wrong of [{ expiresAt: clock.now() }, { name: ' ' }, { scopes: ['pets'] }])
        await expect(issue(wrong)).rejects.toMatchObject({ code: 'invalid_parameter' });
      const right = { expiresAt: later(clock.now(), 1), scopes: ['pets:read'] };
      expect(await issue(right)).toMatchObject({ key: right });
    });

    it.each([
      [undefined, DAY],
      [30 * DAY, 30 * DAY],
      [0, 0],
    ])('that is rotated with an overlap of %s ms works %d ms beside its replacement', async (overlap, works) => {
      const { issue, authenticate, rotateKey, clock } = setUp();
      const old = await issue({ name: 'ci' });
      const { key, text, replaced } = await rotateKey.execute({ id: old.key.id, overlap });
      expect(replaced).toMatchObject({ id: old.key.id, expiresAt: clock.now() + works });
      expect(await authenticate.execute(text)).toMatchObject({ keyId: key.id, key: { name: 'ci' } });
      clock.advance(works);
      await expect((async () => authenticate.execute(old.text))()).rejects.toMatchObject({ code: 'expired_api_key' });
    });

    it('whose text could not be shown is rolled back, and the one that it replaced goes on as it was', async () => {
      const { issue, rotateKey, rollBackKey, authenticate, listKeys } = setUp();
      const old = await issue();
      const replacement = await rotateKey.execute({ id: old.key.id });
      await rollBackKey.execute(replacement);
      await expect((async () => authenticate.execute(replacement.text))()).rejects.toMatchObject({
        code: 'revoked_api_key',
      });
      expect((await listKeys.execute())[0]?.key).toEqual(old.key);
    });

    it.each([-1, 30 * DAY + 1, Number.NaN])('is not rotated with an overlap of %d ms', async (overlap) => {
      await expect(setUp().rotateKey.execute({ id: 1n, overlap })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('is shown in pages of 25, newest first, by state and name', async () => {
      const { issue, showKeys, revokeKey } = setUp();
      const { key: lasting } = await issue({ name: 'Shop' });
      const { accountId } = lasting;
      const all: bigint[] = [lasting.id];
      for (let count = 0; count < 26; count += 1) {
        const { key } = await issue();
        await revokeKey.execute({ id: key.id });
        all.unshift(key.id);
      }
      const show = async (input: Partial<Parameters<typeof showKeys.execute>[0]> = {}) => {
        const { items, ...page } = await showKeys.execute({ accountId, ...input });
        return { ids: items.map(({ id }) => id), ...page };
      };
      const first = await show();
      expect(first).toMatchObject({ ids: all.slice(0, 25), previous: undefined });
      const last = await show({ after: first.next });
      expect(last).toMatchObject({ ids: all.slice(25), next: undefined });
      expect(await show({ before: last.previous })).toEqual(first);
      for (const filter of [{ states: ['active', 'disabled'] }, { name: 'sho' }] as const)
        expect((await show(filter)).ids).toEqual([lasting.id]);
    });

    it('is shown with the end of its ban, and with what it has called, until it has ended', async () => {
      const { issue, ports, showKeys, showKey, authenticate, recordRequest, meterRequest, revokeKey, clock } = setUp();
      const [{ key, text }, other] = [await issue(), await issue()];
      const { id, accountId } = key;
      const caller = await authenticate.execute(text);
      recordRequest.execute(caller, { isUse: true, operation: 'list' });
      for (let sent = 0; sent < 60 + 50; sent += 1) await meterRequest.execute(caller);
      const bannedUntil = later(clock.now(), 5 * MINUTE);
      const operations = [{ operation: 'list', lastUsedAt: startOf(MINUTE, clock.now()) }];
      const bansOf = jest.spyOn(ports.requests, 'bansOf');
      expect(await showKeys.execute({ accountId })).toMatchObject({
        bans: new Map([[id, bannedUntil]]),
        operations: new Map([[id, operations]]),
      });
      expect(bansOf).toHaveBeenCalledTimes(1);
      expect(await showKey.execute({ id, accountId })).toMatchObject({ key: { id }, bannedUntil, operations });
      const unused = await showKey.execute({ id: other.key.id, accountId });
      expect(unused).toMatchObject({ bannedUntil: undefined, operations: [] });
      await revokeKey.execute({ id });
      expect(await showKeys.execute({ accountId })).toMatchObject({ bans: new Map(), operations: new Map() });
      expect((await showKey.execute({ id, accountId })).bannedUntil).toBeUndefined();
    });

    it('gets another name, or none', async () => {
      const { issue, renameKey, showKey } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id, accountId } = key;
      expect(await renameKey.execute({ id, accountId, name: 'desk' })).toEqual({ ...key, name: 'desk' });
      expect((await showKey.execute({ id, accountId })).key.name).toBe('desk');
      await expect(renameKey.execute({ id, name: '' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    });

    it('can be changed, shown and listed only by its own account', async () => {
      const { issue, renameKey, disableKey, showKey, revokeKey, rotateKey, listKeys, openAccount } = setUp();
      const { key } = await issue({ name: 'laptop' });
      const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
      const theirs = { id: key.id, accountId };
      for (const attempt of [
        renameKey.execute({ ...theirs, name: 'mine' }),
        disableKey.execute({ ...theirs, isDisabled: true }),
        revokeKey.execute(theirs),
        rotateKey.execute(theirs),
        showKey.execute(theirs),
        showKey.execute({ ...theirs, id: 99n }),
      ]) {
        await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
      }
      const listed = async (input: object) => (await listKeys.execute(input)).map((each) => each.key.id);
      expect(await listed({ accountId: key.accountId })).toEqual([key.id]);
      expect(await listed({ email: 'DEV@example.com' })).toEqual([key.id]);
      for (const other of [{ accountId }, { email: 'nobody@example.com' }]) expect(await listed(other)).toEqual([]);
      expect((await showKey.execute({ id: key.id, accountId: key.accountId })).key).toEqual(key);
    });
  });
});
