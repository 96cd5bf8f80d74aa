import type { Account, AccountId } from '../../accounts/account.js';
import type { ApiKey, ApiKeyId, NewApiKey } from '../../accounts/keys/api-key.js';
import type { ApiKeyRepository } from '../../accounts/keys/api-key-repository.js';
import { SCOPES, type Scopes } from '../../accounts/scope.js';
import { DAY, HOUR, later, startOf } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { apiKeyLists } from './api-key-lists.js';
import { addKey, atOnce, NOON, outcomes, replaceKey, revokeKey, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'requestRecords';

const NOBODY = { id: INT64_MAX as ApiKeyId, accountId: INT64_MAX as AccountId };

function given(key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw new Error('there is no such key');
  return key;
}

/** The guarantees of every `ApiKeyRepository`. */
export function apiKeyRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect, until } = framework;
  describe(`an API key repository (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    let keys: ApiKeyRepository;
    let account: Account;
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
      keys = ports.apiKeys;
      account = await openAccount();
    });
    afterAll(() => adapters.close());

    const now = NOON;
    const openAccount = () => ports.accounts.open(unique.account());
    const operationsOf = async (id: ApiKeyId) => (await keys.listOperations([id])).get(id) ?? [];
    const draft = (changes: Partial<NewApiKey> = {}) => unique.key(account, changes);
    const add = (changes?: Partial<NewApiKey>) => addKey(ports, draft(changes));

    it('finds a key with its account, by hash and by id', async () => {
      const newKey = draft({ name: 'laptop 💻', expiresAt: later(now, HOUR) });
      const key = await addKey(ports, newKey);
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
        const key = await add({ accountId, scopes });
        expect(key).toMatchObject({ scopes });
        expect((await keys.findByHash(key.hash))?.key).toEqual(key);
        expect((await keys.findById(key.id))?.key).toEqual(key);
        expect((await keys.list(accountId)).map((each) => each.key)).toEqual([key]);
        expect(await keys.listActive(accountId, now)).toEqual([key]);
        expect(await revokeKey(ports, key.id, now)).toMatchObject({ scopes });
        expect(await keys.listPast({ accountId, at: now, limit: 1 })).toEqual([{ ...key, revokedAt: now }]);
      }
    });

    it('finds a key with the scopes of its account as they are now', async () => {
      const opened = await openAccount();
      const { hash } = await add({ accountId: opened.id });
      const scopes = ['pets:read'] as const;
      await ports.accounts.change(opened.email, () => ({ ...opened, scopes }));
      expect(await keys.findByHash(hash)).toMatchObject({ account: { scopes }, key: { scopes: undefined } });
    });

    it('finds nothing for an unknown key', async () => {
      expect(await keys.findByHash(draft().hash)).toBeUndefined();
      expect(await keys.findById(NOBODY.id)).toBeUndefined();
      expect(await operationsOf(NOBODY.id)).toEqual([]);
    });

    describe('a decision', () => {
      /** Decides nothing, but remembers what there was to decide on. */
      const refusal = new Error('refused');
      const seen: unknown[] = [];
      const refuse = (state: unknown) => {
        seen.push(state);
        throw refusal;
      };
      const refused = async (change: Promise<unknown>) => {
        await expect(change).rejects.toThrow('refused');
        return seen.pop();
      };

      it('on a new key is made on its account, its keys that have not ended, and those of the UTC day', async () => {
        const opened = await openAccount();
        const { id: accountId } = opened;
        const yesterday = later(startOf(DAY, now), -1);
        await add({ accountId, createdAt: yesterday });
        await add({ accountId, createdAt: startOf(DAY, now), expiresAt: now });
        const [revoked, disabled, lasting] = [
          await add({ accountId }),
          await add({ accountId }),
          await add({ accountId }),
        ];
        await revokeKey(ports, revoked.id, now);
        await keys.change(disabled.id, ({ key }) => ({ ...given(key), disabledAt: now }));
        await add();
        const state = { account: opened, activeKeys: 3, madeToday: 4 };
        expect(await refused(keys.add(accountId, now, refuse))).toEqual(state);
        expect(await refused(keys.replace(lasting.id, now, refuse))).toEqual({ ...state, old: lasting });
        expect(await refused(keys.add(accountId, yesterday, refuse))).toMatchObject({ madeToday: 5 });
        expect(await refused(keys.add(accountId, later(now, DAY), refuse))).toMatchObject({ madeToday: 0 });
      });

      it('on nothing is made on that', async () => {
        const nobody = { account: undefined, activeKeys: 0, madeToday: 0 };
        expect(await refused(keys.add(NOBODY.accountId, now, refuse))).toEqual(nobody);
        expect(await refused(keys.replace(NOBODY.id, now, refuse))).toEqual({ ...nobody, old: undefined });
        expect(await refused(keys.change(NOBODY.id, refuse))).toEqual({ account: undefined, key: undefined });
        expect(await refused(keys.rollBack(NOBODY.id, refuse))).toEqual({ key: undefined, replaced: undefined });
      });

      it('on new keys is made one after the other, however many are asked for at once', async () => {
        const { id: accountId } = await openAccount();
        const before: number[] = [];
        await atOnce(10, () =>
          keys.add(accountId, now, ({ activeKeys, madeToday }) => {
            expect(madeToday).toBe(activeKeys);
            before.push(activeKeys);
            return draft({ accountId });
          }),
        );
        expect(before.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      });

      it('on a key is stored as it was made, and changes nothing else', async () => {
        const key = await add({ name: 'laptop' });
        const changes: readonly Partial<ApiKey>[] = [
          { name: 'desk 💻', disabledAt: now },
          { name: undefined, expiresAt: later(now, HOUR), revokedAt: now },
          { name: key.name, expiresAt: undefined, revokedAt: undefined, disabledAt: undefined },
        ];
        let expected = key;
        for (const change of changes) {
          const before = expected;
          expected = { ...before, ...change };
          const changed = keys.change(key.id, (state) => {
            expect(state).toEqual({ account, key: before });
            return { ...given(state.key), ...change };
          });
          expect(await changed).toEqual(expected);
          expect(await keys.findById(key.id)).toEqual({ account, key: expected });
        }
        expect(await refused(keys.change(key.id, refuse))).toEqual({ account, key });
        expect(await keys.findById(key.id)).toEqual({ account, key });
      });

      it('on a key is made on what others have decided, however many decide at once', async () => {
        const { id } = await add({ name: '' });
        const replacement = draft();
        await Promise.all([
          atOnce(10, () => keys.change(id, ({ key }) => ({ ...given(key), name: `${given(key).name}x` }))),
          replaceKey(ports, id, replacement),
        ]);
        const replacedBy = (await keys.findByHash(replacement.hash))?.key.id;
        expect((await keys.findById(id))?.key).toMatchObject({ name: 'x'.repeat(10), replacedBy });
      });

      it('on a rotation is stored with both keys', async () => {
        const key = await add();
        const [endsAt, next] = [later(now, HOUR), draft({ name: 'next' })];
        const { old, replacement } = await keys.replace(key.id, now, (state) => ({
          old: { ...given(state.old), expiresAt: endsAt, revokedAt: endsAt },
          replacement: next,
        }));
        expect(replacement).toMatchObject(next);
        expect(old).toEqual({ ...key, expiresAt: endsAt, revokedAt: endsAt, replacedBy: replacement.id });
        expect(await keys.findById(old.id)).toEqual({ account, key: old });
        expect(await keys.findById(replacement.id)).toEqual({ account, key: replacement });
      });

      it('on a rotation is made one after the other: one of many replaces the key, and the others add nothing', async () => {
        const { id: accountId } = await openAccount();
        const { id } = await add({ accountId });
        const rotations = Array.from({ length: 10 }, () => replaceKey(ports, id, draft({ accountId })));
        expect(outcomes(await Promise.allSettled(rotations)).values).toHaveLength(1);
        expect(await keys.list(accountId)).toHaveLength(2);
      });

      it('on a rotation changes nothing if the replacement can’t be added', async () => {
        const [taken, old] = [await add(), await add()];
        await expect(replaceKey(ports, old.id, draft({ hash: taken.hash }))).rejects.toThrow();
        expect(await keys.findById(old.id)).toEqual({ account, key: old });
      });

      it('to take a key back is made on it and on the one that it has replaced, and stored for both', async () => {
        const [key, bystander] = [await add(), await add()];
        await keys.rollBack(bystander.id, (state) => {
          expect(state).toEqual({ key: bystander, replaced: undefined });
          return { key: { ...bystander, revokedAt: now } };
        });
        const replacement = await replaceKey(ports, key.id, draft());
        await keys.rollBack(replacement.id, (state) => {
          expect(state).toMatchObject({ key: replacement, replaced: { id: key.id, replacedBy: replacement.id } });
          return { key: { ...replacement, revokedAt: now }, replaced: key };
        });
        expect((await keys.findById(bystander.id))?.key).toEqual({ ...bystander, revokedAt: now });
        expect((await keys.findById(replacement.id))?.key).toEqual({ ...replacement, revokedAt: now });
        expect((await keys.findById(key.id))?.key).toEqual(key);
      });
    });

    it('deletes the keys that ended up to an instant, in any order of replacement, and no others', async () => {
      const { id: accountId } = await openAccount();
      const longAgo = later(now, -1_000 * DAY);
      const ended = later(longAgo, HOUR);
      const first = await add({ accountId, createdAt: longAgo });
      const second = await replaceKey(ports, first.id, draft({ accountId, createdAt: longAgo }));
      // The replaced key ends later than its replacement.
      await keys.change(first.id, ({ key }) => ({ ...given(key), expiresAt: later(ended, 1) }));
      await revokeKey(ports, second.id, ended);
      for (let made = 0; made < 3; made += 1) await add({ accountId, expiresAt: later(ended, -made) });
      const lasting = await add({ accountId, createdAt: longAgo });
      for (const { id } of [second, lasting]) {
        const used = { accountId, keyId: id, at: now, isUse: true, operation: 'GET /v1/pets' };
        ports.requestRecords.record(used);
      }
      await until(async () => (await operationsOf(lasting.id)).length === 1);
      expect(await keys.purge(ended)).toBe(4);
      expect(await keys.purge(ended)).toBe(0);
      expect((await keys.list(accountId)).map(({ key }) => key.id)).toEqual([first.id, lasting.id]);
      expect(await keys.findByHash(second.hash)).toBeUndefined();
      expect(await operationsOf(second.id)).toEqual([]);
      expect(await operationsOf(lasting.id)).toHaveLength(1);
      const next = await add({ accountId });
      expect(next.id > lasting.id).toBe(true);
    });

    it('gives each of many concurrent callers its own key, or none', async () => {
      const added: ApiKey[] = [];
      // Few at once, because each waits for a connection.
      for (let round = 0; round < 3; round += 1) added.push(...(await atOnce(10, () => add())));
      const hashes = added.flatMap(({ hash }) => [hash, draft().hash]);
      const found = await Promise.all(hashes.map(async (hash) => keys.findByHash(hash)));
      expect(found.filter((_, index) => index % 2 === 0).map((each) => each?.key)).toEqual(added);
      expect(new Set(found.filter((_, index) => index % 2 === 1))).toEqual(new Set([undefined]));
    });

    apiKeyLists(framework, () => ports, openAccount, draft);
  });
}
