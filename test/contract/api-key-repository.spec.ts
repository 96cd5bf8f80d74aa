import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type AccountId,
  type ApiKeyId,
  type ApiKeyRepository,
  HOUR,
  INT64_MAX,
  instant,
  later,
  type NewApiKey,
} from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

describe.each(everyAdapter)('an API key repository (%s)', (_name, open) => {
  let adapters: Adapters;
  let keys: ApiKeyRepository;
  let account: Account;
  beforeAll(async () => {
    adapters = await open();
    keys = adapters.ports.apiKeys;
    account = await openAccount();
  });
  afterAll(() => adapters.close());

  const now = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
  const openAccount = () =>
    adapters.ports.accounts.open({ email: `${randomUUID()}@example.com`, plan: { name: 'free' }, createdAt: now });
  const draft = (changes: Partial<NewApiKey> = {}): NewApiKey => ({
    accountId: account.id,
    hash: createHash('sha256').update(randomUUID()).digest('hex'),
    ending: 'wxyz',
    name: undefined,
    createdAt: now,
    expiresAt: undefined,
    ...changes,
  });

  it('finds a key with its account, by hash and by id', async () => {
    const newKey = draft({ name: 'laptop 💻', expiresAt: later(now, HOUR) });
    const key = await keys.add(newKey);
    expect(key).toEqual({ ...newKey, id: key.id, revokedAt: undefined, replacedBy: undefined });
    expect(await keys.findByHash(newKey.hash)).toEqual({ account, key });
    expect(await keys.findById(key.id)).toEqual({ account, key });
  });

  it('says undefined of a key that is not there', async () => {
    expect(await keys.findByHash(draft().hash)).toBeUndefined();
    expect(await keys.findById(INT64_MAX as ApiKeyId)).toBeUndefined();
    expect(await keys.revoke(INT64_MAX as ApiKeyId, now)).toBeUndefined();
    expect(await keys.replace(INT64_MAX as ApiKeyId, draft(), now)).toBeUndefined();
  });

  it('adds no key to an account that is not there', async () => {
    const orphan = draft({ accountId: INT64_MAX as AccountId });
    await expect(keys.add(orphan)).rejects.toMatchObject({ code: 'not_found' });
    expect(await keys.findByHash(orphan.hash)).toBeUndefined();
  });

  it('lists the keys of one account, or of all, ascending by id', async () => {
    const other = await openAccount();
    const added = [await keys.add(draft({ accountId: other.id })), await keys.add(draft({ accountId: other.id }))];
    expect((await keys.list(other.id)).map(({ key }) => key)).toEqual(added);
    const all = (await keys.list()).map(({ key }) => key.id);
    expect(all).toEqual(expect.arrayContaining(added.map(({ id }) => id)));
    expect(all).toEqual([...all].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('revokes a key once: the first instant stays', async () => {
    const { id } = await keys.add(draft());
    expect(await keys.revoke(id, now)).toMatchObject({ id, revokedAt: now });
    expect(await keys.revoke(id, later(now, HOUR))).toMatchObject({ id, revokedAt: now });
    expect(await keys.findById(id)).toMatchObject({ key: { revokedAt: now } });
  });

  it('replaces a key: the new one is there, the old one ends', async () => {
    const { id } = await keys.add(draft());
    const endsAt = later(now, HOUR);
    const replacement = await keys.replace(id, draft({ name: 'new' }), endsAt);
    expect(replacement).toMatchObject({ name: 'new', expiresAt: undefined });
    expect(await keys.findById(id)).toMatchObject({ key: { expiresAt: endsAt, replacedBy: replacement?.id } });
  });

  it.each([
    ['revoked', async (id: ApiKeyId) => keys.revoke(id, now)],
    ['replaced', async (id: ApiKeyId) => keys.replace(id, draft(), later(now, HOUR))],
  ])('does not replace a key that has been %s', async (_what, end) => {
    const { id } = await keys.add(draft());
    await end(id);
    const before = await keys.findById(id);
    const replacement = draft();
    expect(await keys.replace(id, replacement, now)).toBeUndefined();
    expect(await keys.findByHash(replacement.hash)).toBeUndefined();
    expect(await keys.findById(id)).toEqual(before);
  });

  it('does not replace a key that has expired', async () => {
    const { id } = await keys.add(draft({ expiresAt: now }));
    expect(await keys.replace(id, draft(), now)).toBeUndefined();
  });

  it('lets one of many racing replacements win, and adds nothing for the others', async () => {
    const racing = await openAccount();
    const { id } = await keys.add(draft({ accountId: racing.id }));
    const replaced = await Promise.all(
      Array.from({ length: 30 }, () => keys.replace(id, draft({ accountId: racing.id }), later(now, HOUR))),
    );
    expect(replaced.filter((key) => key !== undefined)).toHaveLength(1);
    expect(await keys.list(racing.id)).toHaveLength(2);
  });

  it('leaves the old key as it was where its replacement cannot be added', async () => {
    const taken = await keys.add(draft());
    const old = await keys.add(draft());
    await expect(keys.replace(old.id, draft({ hash: taken.hash }), now)).rejects.toThrow();
    expect(await keys.findById(old.id)).toEqual({ account, key: old });
  });
});
