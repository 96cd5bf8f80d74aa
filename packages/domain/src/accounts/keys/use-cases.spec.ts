import { testPolicy } from '../../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../../application.js';
import { DAY, HOUR, later, MINUTE, startOf } from '../../kernel/clock.js';
import { inMemoryPorts } from '../../testing/index.js';
import type { KeyCommand } from './api-key.js';
import { generateKeyText } from './api-key-text.js';
import type { IssueKeyInput } from './issue-key.js';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy());
  const issue = async (input: Omit<IssueKeyInput, 'accountId'> = {}) => {
    const { id: accountId } = await application.openAccount.execute({ email: 'dev@example.com' });
    return application.issueKey.execute({ accountId, ...input });
  };
  const authenticate = async (text: string) => application.authenticate.execute(text);
  /** Every way to change a key. */
  const changes = [
    (input: KeyCommand) => application.rotateKey.execute(input),
    (input: KeyCommand) => application.renameKey.execute({ ...input, name: 'other' }),
    (input: KeyCommand) => application.switchKey.execute({ ...input, isDisabled: true }),
    (input: KeyCommand) => application.revokeKey.execute(input),
  ];
  return { ...application, ports, clock: ports.clock, issue, authenticate, changes };
}

describe('a key', () => {
  it('is stored only as a hash', async () => {
    const { issue, listAllKeys } = setUp();
    const { text } = await issue();
    const [stored] = await listAllKeys.execute();
    expect(Object.values({ ...stored?.key }).map(String)).not.toContainEqual(
      expect.stringContaining(text.slice(9, 41)),
    );
  });

  it('that was never issued is refused, without a look-up if its checksum is wrong', async () => {
    const { ports, authenticate } = setUp();
    const lookUp = jest.spyOn(ports.apiKeys, 'findByHash');
    const unknown = generateKeyText('live', ports.cryptography);
    const refused = { code: 'invalid_api_key', message: 'the API key is not valid' };
    await expect(authenticate(`${unknown.slice(0, -1)}-`)).rejects.toMatchObject(refused);
    expect(lookUp).not.toHaveBeenCalled();
    await expect(authenticate(unknown)).rejects.toMatchObject(refused);
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  it('is looked up and checked for each request', async () => {
    const { authenticate, issue, switchKey, revokeKey, clock } = setUp();
    const { key, text } = await issue({ expiresAt: later(clock.now(), HOUR) });
    const { id, accountId } = key;
    expect(await authenticate(text)).toMatchObject({ keyId: id, accountId });
    expect(await switchKey.execute({ id, accountId, isDisabled: true })).toMatchObject({ id });
    await expect(authenticate(text)).rejects.toMatchObject({ code: 'disabled_api_key', kind: 'unauthenticated' });
    await switchKey.execute({ id, isDisabled: false });
    expect(await authenticate(text)).toMatchObject({ keyId: id });
    clock.advance(HOUR);
    await expect(authenticate(text)).rejects.toMatchObject({ code: 'expired_api_key' });
    clock.advance(1);
    await revokeKey.execute({ id });
    await expect(authenticate(text)).rejects.toMatchObject({ code: 'revoked_api_key' });
  });

  it('is neither issued nor changed in a session of an earlier password', async () => {
    const { issue, listAllKeys, changes } = setUp();
    const { key } = await issue({ credentialVersion: 0 });
    const earlier = { credentialVersion: 1 };
    const signedOut = { code: 'signed_out', kind: 'unauthenticated' };
    await expect(issue(earlier)).rejects.toMatchObject(signedOut);
    for (const change of changes)
      await expect(change({ id: key.id, accountId: key.accountId, ...earlier })).rejects.toMatchObject(signedOut);
    expect((await listAllKeys.execute()).map((each) => each.key)).toEqual([key]);
  });

  it('can be changed, shown and listed only by its own account', async () => {
    const { issue, listAllKeys, openAccount, getKey, changes } = setUp();
    const { key } = await issue({ name: 'laptop' });
    const { id: accountId } = await openAccount.execute({ email: 'other@example.com' });
    const theirs = { id: key.id, accountId };
    for (const change of changes) await expect(change(theirs)).rejects.toMatchObject({ code: 'not_found' });
    await expect(getKey.execute(theirs)).rejects.toMatchObject({ code: 'not_found' });
    const listed = async (input: object) => (await listAllKeys.execute(input)).map((each) => each.key);
    for (const owner of [{ accountId: key.accountId }, { email: 'DEV@example.com' }])
      expect(await listed(owner)).toEqual([key]);
    for (const other of [{ accountId }, { email: 'nobody@example.com' }]) expect(await listed(other)).toEqual([]);
    expect((await getKey.execute({ id: key.id, accountId: key.accountId })).key).toEqual(key);
  });

  it('is not issued with a past expiry, an unreadable name or unknown scopes, nor renamed to one', async () => {
    const { issue, renameKey, clock } = setUp();
    const invalid = { code: 'invalid_parameter' };
    for (const wrong of [{ expiresAt: clock.now() }, { name: ' ' }, { scopes: ['pets'] }])
      await expect(issue(wrong)).rejects.toMatchObject(invalid);
    const right = { expiresAt: later(clock.now(), 1), scopes: ['pets:read'] };
    const { key } = await issue(right);
    expect(key).toMatchObject(right);
    await expect(renameKey.execute({ id: key.id, name: '' })).rejects.toMatchObject(invalid);
    expect(await renameKey.execute({ id: key.id, name: 'desk' })).toEqual({ ...key, name: 'desk' });
  });

  it('that is rotated works for a day beside its replacement', async () => {
    const { issue, authenticate, rotateKey, clock } = setUp();
    const old = await issue({ name: 'ci' });
    const { key, text, replaced } = await rotateKey.execute({ id: old.key.id });
    expect(replaced).toMatchObject({ id: old.key.id, expiresAt: clock.now() + DAY });
    expect(await authenticate(text)).toMatchObject({ keyId: key.id, key: { name: 'ci' } });
    clock.advance(DAY);
    await expect(authenticate(old.text)).rejects.toMatchObject({ code: 'expired_api_key' });
  });

  it.each([-1, 30 * DAY + 1, Number.NaN])('is not rotated with an overlap of %d ms', async (overlap) => {
    await expect(setUp().rotateKey.execute({ id: 1n, overlap })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  it('is shown in pages of 25, newest first, by state and name', async () => {
    const { issue, listKeys, revokeKey } = setUp();
    const { key: oldest } = await issue({ name: 'Shop' });
    const { accountId } = oldest;
    for (let count = 0; count < 25; count += 1) await revokeKey.execute({ id: (await issue()).key.id });
    const first = await listKeys.execute({ accountId });
    expect(first.items).toHaveLength(25);
    expect(await listKeys.execute({ accountId, after: first.next })).toMatchObject({ items: [oldest] });
    for (const filter of [{ states: ['active', 'disabled'] }, { name: 'sho' }] as const)
      expect((await listKeys.execute({ accountId, ...filter })).items).toEqual([oldest]);
  });

  it('is shown with the end of its ban, and with what it has called, until it has ended', async () => {
    const { issue, ports, listKeys, getKey, authenticate, recordRequest, meterRequest, revokeKey, clock } = setUp();
    const [{ key, text }, other] = [await issue(), await issue()];
    const { id, accountId } = key;
    const caller = await authenticate(text);
    recordRequest.execute(caller, { isUse: true, operation: 'list' });
    for (let sent = 0; sent < 60 + 50; sent += 1) await meterRequest.execute(caller);
    const bannedUntil = later(clock.now(), 5 * MINUTE);
    const operations = [{ operation: 'list', lastUsedAt: startOf(MINUTE, clock.now()) }];
    const bansOf = jest.spyOn(ports.requests, 'bansOf');
    const shown = { bans: new Map([[id, bannedUntil]]), operations: new Map([[id, operations]]) };
    expect(await listKeys.execute({ accountId })).toMatchObject(shown);
    expect(bansOf).toHaveBeenCalledTimes(1);
    expect(await getKey.execute({ id, accountId })).toMatchObject({ key: { id }, bannedUntil, operations });
    const unused = await getKey.execute({ id: other.key.id, accountId });
    expect(unused).toMatchObject({ bannedUntil: undefined, operations: [] });
    await revokeKey.execute({ id });
    expect(await listKeys.execute({ accountId })).toMatchObject({ bans: new Map(), operations: new Map() });
    expect((await getKey.execute({ id, accountId })).bannedUntil).toBeUndefined();
  });
});
