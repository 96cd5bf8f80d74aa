import type { Account, AccountId } from '../../accounts/account.js';
import { type ApiKey, type ApiKeyId, keyState, type NewApiKey } from '../../accounts/api-key.js';
import type { ApiKeyRepository } from '../../accounts/api-key-repository.js';
import { SCOPES, type Scopes } from '../../accounts/scope.js';
import { DAY, HOUR, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { apiKeyLists } from './api-key-lists.js';
import { atOnce, NOON, outcomes, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'requestRecords';

/** The guarantees of every `ApiKeyRepository`. */
export function apiKeyRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect, until } = framework;
  describe(`an API key repository (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let keys: ApiKeyRepository;
    let account: Account;
    beforeAll(async () => {
      adapters = await open();
      keys = adapters.ports.apiKeys;
      account = await openAccount();
    });
    afterAll(() => adapters.close());

    const now = NOON;
    const openAccount = () => adapters.ports.accounts.open(unique.account());
    const operationsOf = async (id: ApiKeyId) => (await keys.listOperations([id])).get(id) ?? [];
    const draft = (changes: Partial<NewApiKey> = {}) => unique.key(account, changes);

    it('finds a key with its account, by hash and by id', async () => {
      const newKey = draft({ name: 'laptop 💻', expiresAt: later(now, HOUR) });
      const key = await keys.add(newKey);
      expect(key).toEqual({
        ...newKey,
        id: key.id,
        revokedAt: undefined,
        disabledAt: undefined,
        replacedBy: undefined,
        lastUsedAt: undefined,
      });
      expect(await keys.findByHash(newKey.hash)).toEqual({ account, key });
      expect(await keys.findById(key.id)).toEqual({ account, key });
    });

    it('keeps the scopes that a key asks for, through every way of finding it', async () => {
      for (const scopes of [['pets:write', 'orders:read'], SCOPES] satisfies Scopes[]) {
        const { id: accountId } = await openAccount();
        const newKey = draft({ accountId, scopes });
        const key = await keys.add(newKey);
        expect(key).toMatchObject({ scopes });
        expect((await keys.findByHash(newKey.hash))?.key).toEqual(key);
        expect((await keys.findById(key.id))?.key).toEqual(key);
        expect((await keys.list(accountId)).map((each) => each.key)).toEqual([key]);
        expect(await keys.listActive(accountId, now)).toEqual([key]);
        expect(await keys.revoke(key.id, now)).toMatchObject({ scopes });
        expect(await keys.listPast({ accountId, at: now, limit: 1 })).toEqual([{ ...key, revokedAt: now }]);
      }
    });

    it('finds a key with the scopes of its account as they are now', async () => {
      const opened = await openAccount();
      const newKey = draft({ accountId: opened.id });
      await keys.add(newKey);
      const { scopes } = (await adapters.ports.accounts.holdToScopes(opened.email, ['pets:read'])) ?? {};
      expect(scopes).toEqual(['pets:read']);
      expect(await keys.findByHash(newKey.hash)).toMatchObject({ account: { scopes }, key: { scopes: undefined } });
    });

    it('returns undefined for an unknown key', async () => {
      expect(await keys.findByHash(draft().hash)).toBeUndefined();
      expect(await keys.findById(INT64_MAX as ApiKeyId)).toBeUndefined();
      expect(await keys.revoke(INT64_MAX as ApiKeyId, now)).toBeUndefined();
      expect(await keys.rename(INT64_MAX as ApiKeyId, 'name')).toBeUndefined();
      expect(await keys.disable(INT64_MAX as ApiKeyId, now)).toBeUndefined();
      expect(await operationsOf(INT64_MAX as ApiKeyId)).toEqual([]);
      expect(await keys.replace(INT64_MAX as ApiKeyId, draft(), now)).toBeUndefined();
    });

    it('adds no key to an unknown account', async () => {
      const orphan = draft({ accountId: INT64_MAX as AccountId });
      await expect(keys.add(orphan)).rejects.toMatchObject({ code: 'not_found' });
      expect(await keys.findByHash(orphan.hash)).toBeUndefined();
    });

    it('never adds more active keys than allowed, however many calls race', async () => {
      const { id: accountId } = await openAccount();
      await keys.add(draft({ accountId, expiresAt: now }));
      const revoked = await keys.add(draft({ accountId }));
      await keys.revoke(revoked.id, now);
      const added = await Promise.allSettled(Array.from({ length: 20 }, () => keys.add(draft({ accountId }), 5)));
      const { values: issued, reasons } = outcomes(added);
      expect(issued).toHaveLength(5);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_keys' });
      const [old] = issued;
      if (old === undefined) throw new Error('no key was added');
      await expect(keys.replace(old.id, draft({ accountId }), later(now, HOUR), 5)).rejects.toMatchObject({
        code: 'too_many_keys',
      });
      expect(await keys.findById(old.id)).toMatchObject({ key: old });
      expect(await keys.replace(old.id, draft({ accountId }), now, 5)).toBeDefined();
      expect(await keys.list(accountId)).toHaveLength(8);
    });

    it('never adds more keys a UTC day than allowed, however many calls race', async () => {
      const { id: accountId } = await openAccount();
      const yesterday = later(now, -DAY);
      for (let made = 0; made < 3; made += 1) await keys.add(draft({ accountId, createdAt: yesterday }));
      const added = await Promise.allSettled(
        Array.from({ length: 20 }, () => keys.add(draft({ accountId, expiresAt: now }), undefined, undefined, 5)),
      );
      const { values: issued, reasons } = outcomes(added);
      expect(issued).toHaveLength(5);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_keys' });
      const old = await keys.add(draft({ accountId }));
      await expect(keys.replace(old.id, draft({ accountId }), now, undefined, undefined, 5)).rejects.toMatchObject({
        code: 'too_many_keys',
      });
      const tomorrow = later(now, DAY);
      expect(await keys.add(draft({ accountId, createdAt: tomorrow }), undefined, undefined, 5)).toMatchObject({
        accountId,
      });
    });

    it('deletes the keys that ended up to an instant, in any order of replacement, and no others', async () => {
      const { id: accountId } = await openAccount();
      const longAgo = later(now, -1_000 * DAY);
      const ended = later(longAgo, HOUR);
      const first = await keys.add(draft({ accountId, createdAt: longAgo }));
      // Ends later than the key that replaced it.
      const second = await keys.replace(first.id, draft({ accountId, createdAt: longAgo }), later(ended, 1));
      if (second === undefined) throw new Error('the key was not replaced');
      await keys.revoke(second.id, ended);
      for (let made = 0; made < 3; made += 1) await keys.add(draft({ accountId, expiresAt: later(ended, -made) }));
      const lasting = await keys.add(draft({ accountId, createdAt: longAgo }));
      for (const { id } of [second, lasting]) {
        const used = { accountId, keyId: id, at: now, isUse: true, operation: 'GET /v1/pets' };
        adapters.ports.requestRecords.record(used);
      }
      await until(async () => (await operationsOf(lasting.id)).length === 1);
      expect(await keys.purge(ended)).toBe(4);
      expect(await keys.purge(ended)).toBe(0);
      expect((await keys.list(accountId)).map(({ key }) => key.id)).toEqual([first.id, lasting.id]);
      expect(await keys.findByHash(second.hash)).toBeUndefined();
      expect(await operationsOf(second.id)).toEqual([]);
      expect(await operationsOf(lasting.id)).toHaveLength(1);
      const next = await keys.add(draft({ accountId }));
      expect(next.id > lasting.id).toBe(true);
    });

    it('revokes a key once, whatever a clock says: the first instant stays', async () => {
      const { id } = await keys.add(draft());
      const revokedAt = later(now, HOUR);
      expect(await keys.revoke(id, revokedAt)).toMatchObject({ id, revokedAt });
      expect(await keys.revoke(id, later(now, 2 * HOUR))).toMatchObject({ id, revokedAt });
      const found = await keys.findById(id);
      expect(found).toMatchObject({ key: { revokedAt } });
      expect(found && keyState(found.key, now)).toBe('revoked');
    });

    it('ends a key that is replaced without an overlap at once, whatever a clock says', async () => {
      const { id } = await keys.add(draft());
      await keys.replace(id, draft(), now);
      const found = await keys.findById(id);
      expect(found && keyState(found.key, later(now, -HOUR))).toBe('expired');
    });

    it('replaces a key: the new one exists, the old one ends', async () => {
      const { id } = await keys.add(draft());
      const endsAt = later(now, HOUR);
      const replacement = await keys.replace(id, draft({ name: 'new' }), endsAt);
      expect(replacement).toMatchObject({ name: 'new', expiresAt: undefined });
      expect(await keys.findById(id)).toMatchObject({ key: { expiresAt: endsAt, replacedBy: replacement?.id } });
    });

    it('renames a key, and changes nothing else of it', async () => {
      const newKey = draft({ name: 'laptop', expiresAt: later(now, HOUR) });
      const key = await keys.add(newKey);
      expect(await keys.rename(key.id, 'desk 💻')).toEqual({ ...key, name: 'desk 💻' });
      expect(await keys.findByHash(newKey.hash)).toEqual({ account, key: { ...key, name: 'desk 💻' } });
      expect(await keys.rename(key.id, undefined)).toEqual({ ...key, name: undefined });
    });

    it('disables a key once, and enables it again', async () => {
      const key = await keys.add(draft());
      const disabled = { ...key, disabledAt: now };
      expect(await keys.disable(key.id, now)).toEqual(disabled);
      expect(await keys.disable(key.id, later(now, HOUR))).toEqual(disabled);
      expect(await keys.findById(key.id)).toEqual({ account, key: disabled });
      expect(await keys.disable(key.id, undefined)).toEqual(key);
      expect(await keys.findById(key.id)).toEqual({ account, key });
      expect(await keys.disable(key.id, later(now, HOUR))).toMatchObject({ disabledAt: later(now, HOUR) });
    });

    it('neither disables nor enables a revoked key', async () => {
      const [one, other] = [await keys.add(draft()), await keys.add(draft())];
      await keys.disable(other.id, now);
      for (const { id } of [one, other]) await keys.revoke(id, now);
      expect(await keys.disable(one.id, now)).toBeUndefined();
      expect(await keys.disable(other.id, undefined)).toBeUndefined();
      expect(await keys.findById(one.id)).toMatchObject({ key: { disabledAt: undefined, revokedAt: now } });
      expect(await keys.findById(other.id)).toMatchObject({ key: { disabledAt: now, revokedAt: now } });
    });

    it('counts a disabled key among the active ones, so that it can be enabled', async () => {
      const { id: accountId } = await openAccount();
      const { id } = await keys.add(draft({ accountId }), 1);
      await keys.disable(id, now);
      await expect(keys.add(draft({ accountId }), 1)).rejects.toMatchObject({ code: 'too_many_keys' });
      expect(await keys.listActive(accountId, now)).toMatchObject([{ id }]);
    });

    it('keeps every change of a key that is renamed, disabled and revoked or replaced at once', async () => {
      const owner = await openAccount();
      for (let race = 0; race < 3; race += 1) {
        const [one, other] = [await keys.add(draft({ name: 'old' })), await keys.add(draft({ accountId: owner.id }))];
        const [, disabled] = await Promise.all([
          keys.rename(one.id, 'new'),
          keys.disable(one.id, now),
          keys.revoke(one.id, now),
        ]);
        expect(await keys.findById(one.id)).toMatchObject({
          key: { name: 'new', revokedAt: now, disabledAt: disabled?.disabledAt },
        });
        const [, replacement] = await Promise.all([
          keys.disable(other.id, now),
          keys.replace(other.id, draft({ accountId: owner.id }), later(now, HOUR)),
        ]);
        expect((await keys.findById(other.id))?.key).toMatchObject({ disabledAt: now, replacedBy: replacement?.id });
      }
    });

    it('does not replace a key that has been revoked, replaced or disabled, or has expired', async () => {
      const ends: readonly ((id: ApiKeyId) => Promise<unknown>)[] = [
        (id) => keys.revoke(id, now),
        (id) => keys.replace(id, draft(), later(now, HOUR)),
        (id) => keys.disable(id, now),
        () => Promise.resolve(),
      ];
      for (const [index, end] of ends.entries()) {
        const { id } = await keys.add(draft({ expiresAt: index === 3 ? now : undefined }));
        await end(id);
        const before = await keys.findById(id);
        const replacement = draft();
        expect(await keys.replace(id, replacement, now)).toBeUndefined();
        expect(await keys.findByHash(replacement.hash)).toBeUndefined();
        expect(await keys.findById(id)).toEqual(before);
      }
    });

    it('revokes a key that nobody has seen', async () => {
      const key = await keys.add(draft());
      await keys.takeBack(key.id, now);
      await keys.takeBack(key.id, later(now, HOUR));
      expect(await keys.findByHash(key.hash)).toEqual({ account, key: { ...key, revokedAt: now } });
    });

    for (const [howLong, expiresAt] of [
      ['for ever', undefined],
      ['for a time', later(now, 2 * HOUR)],
    ] as const)
      it(`takes a replacement back, and the key that works ${howLong} goes on as if it had never been replaced`, async () => {
        const old = await keys.add(draft({ expiresAt }));
        const bystander = await keys.add(draft());
        const added = await keys.replace(old.id, draft(), now);
        if (added === undefined) throw new Error('the key was not replaced');
        expect(await keys.findById(old.id)).toMatchObject({ key: { replacedBy: added.id } });
        await keys.takeBack(added.id, now, old);
        expect(await keys.findByHash(old.hash)).toEqual({ account, key: old });
        expect(await keys.findByHash(added.hash)).toMatchObject({ key: { revokedAt: now } });
        await keys.takeBack(bystander.id, now, old);
        expect(await keys.replace(old.id, draft(), later(now, HOUR))).toBeDefined();
      });

    it('takes back only the replacement that was made', async () => {
      const [old, other] = [await keys.add(draft()), await keys.add(draft())];
      const added = await keys.replace(old.id, draft(), later(now, HOUR));
      await keys.takeBack(other.id, now, old);
      expect(await keys.findById(old.id)).toMatchObject({
        key: { expiresAt: later(now, HOUR), replacedBy: added?.id },
      });
    });

    it('lets one of many concurrent replacements win, and adds nothing for the others', async () => {
      const racing = await openAccount();
      const { id } = await keys.add(draft({ accountId: racing.id }));
      const replaced = await atOnce(10, () => keys.replace(id, draft({ accountId: racing.id }), later(now, HOUR)));
      expect(replaced.filter((key) => key !== undefined)).toHaveLength(1);
      expect(await keys.list(racing.id)).toHaveLength(2);
    });

    it('gives each of many concurrent callers its own key, or none', async () => {
      const added: ApiKey[] = [];
      // Few at once, because each waits for a connection.
      for (let round = 0; round < 3; round += 1) added.push(...(await atOnce(10, () => keys.add(draft()))));
      const hashes = added.flatMap(({ hash }) => [hash, draft().hash]);
      const found = await Promise.all(hashes.map(async (hash) => keys.findByHash(hash)));
      expect(found.filter((_, index) => index % 2 === 0).map((each) => each?.key)).toEqual(added);
      expect(new Set(found.filter((_, index) => index % 2 === 1))).toEqual(new Set([undefined]));
    });

    it('leaves the old key unchanged if its replacement cannot be added', async () => {
      const taken = await keys.add(draft());
      const old = await keys.add(draft());
      await expect(keys.replace(old.id, draft({ hash: taken.hash }), now)).rejects.toThrow();
      expect(await keys.findById(old.id)).toEqual({ account, key: old });
    });

    apiKeyLists(framework, () => keys, openAccount, draft);
  });
}
