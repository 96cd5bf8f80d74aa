import type { Account, AccountId } from '../../accounts/account.js';
import type { ApiKey, ApiKeyId, NewApiKey } from '../../accounts/keys/api-key.js';
import type { ApiKeyRepository } from '../../accounts/keys/api-key-repository.js';
import type { AccountMailId } from '../../accounts/mails/account-mail.js';
import { SCOPES } from '../../accounts/scope.js';
import { DAY, HOUR, type Instant, later, MINUTE, startOf } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import type { Transaction } from '../../kernel/transaction.js';
import { apiKeyLists } from './api-key-lists.js';
import {
  addKey,
  atOnce,
  changePassword,
  closeAccount,
  expectDecidedOnce,
  NOON as now,
  openBefore,
  openWithPassword,
  present,
  race,
  replaceKey,
  revokeKey,
  stateOf,
  undo,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'apiKeys' | 'credentials' | 'idempotency' | 'requestRecords';

const NOBODY = { id: INT64_MAX as ApiKeyId, accountId: INT64_MAX as AccountId };

/** The guarantees of every `ApiKeyRepository`. */
export function apiKeyRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, expect, until } = framework;
  describe(`an API key repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let keys: ApiKeyRepository;
    let account: Account;
    openBefore(framework, open, async (adapters) => {
      ports = adapters.ports;
      keys = ports.apiKeys;
      account = await openAccount();
    });

    const openAccount = () => ports.accounts.open(unique.account());
    /** A key with scopes of its own, which every way of finding it keeps. */
    const draft = (changes: Partial<NewApiKey> = {}) =>
      unique.key(account, { scopes: ['pets:write', 'orders:read'], ...changes });
    const add = (changes?: Partial<NewApiKey>) => addKey(ports, draft(changes));

    it('finds a key with its account, by hash and by id', async () => {
      for (const scopes of [undefined, SCOPES, ['pets:read'] as const]) {
        const newKey = draft({ name: 'laptop 💻', scopes, expiresAt: later(now, HOUR) });
        const key = await addKey(ports, newKey);
        const unused = { revokedAt: undefined, disabledAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
        expect(key).toEqual({ ...newKey, id: key.id, ...unused });
        expect(await keys.findByHash(newKey.hash)).toEqual({ account, key });
        expect(await keys.findById(key.id)).toEqual({ account, key });
      }
    });

    it('finds a key by its hash as it has become, within seconds, also once it is revoked and its account closed', async () => {
      const opened = await openWithPassword(ports.credentials, unique);
      const { id, hash } = await add({ accountId: opened.id });
      const scopes = ['pets:read'] as const;
      await ports.accounts.change(opened.email, () => ({ ...opened, scopes }));
      expect(await keys.findByHash(hash)).toMatchObject({ account: { scopes }, key: { revokedAt: undefined } });
      await revokeKey(ports, id, now);
      await closeAccount(ports, opened);
      await until(async () => (await keys.findByHash(hash))?.key.revokedAt === now);
      expect(await keys.findById(id)).toMatchObject({ key: { revokedAt: now } });
    });

    it('finds nothing for an unknown key, which is found once it is added', async () => {
      const { hash } = draft();
      expect(await keys.findByHash(hash)).toBeUndefined();
      expect(await keys.findById(NOBODY.id)).toBeUndefined();
      expect(await keys.findByHash((await add({ hash })).hash)).toMatchObject({ key: { hash } });
    });

    describe('a decision', () => {
      const holderAt = (accountId: AccountId, at: Instant) => stateOf((refuse) => keys.add(accountId, at, refuse));

      it('on a new key is made on its account, its keys that have not ended, and those of the UTC day', async () => {
        const opened = await openAccount();
        const { id: accountId } = opened;
        const yesterday = later(startOf(DAY, now), -1);
        await add({ accountId, createdAt: yesterday });
        await add({ accountId, createdAt: startOf(DAY, now), expiresAt: now });
        const [revoked, disabled] = [await add({ accountId }), await add({ accountId })];
        const lasting = await add({ accountId });
        // By a clock that is ahead.
        await revokeKey(ports, revoked.id, later(now, HOUR));
        await keys.change(disabled.id, ({ key }) => ({ ...present(key), disabledAt: now }));
        await add();
        const state = { account: opened, activeKeys: 3, madeToday: 4 };
        expect(await holderAt(accountId, now)).toEqual(state);
        expect(await stateOf((refuse) => keys.replace(lasting.id, now, refuse))).toEqual({ ...state, old: lasting });
        expect(await holderAt(accountId, yesterday)).toMatchObject({ madeToday: 5 });
        expect(await holderAt(accountId, later(now, DAY))).toMatchObject({ madeToday: 0 });
      });

      it('on a key of a closed account is made without the account', async () => {
        const closed = await openWithPassword(ports.credentials, unique);
        const { id } = await add({ accountId: closed.id });
        await closeAccount(ports, closed);
        expect(await holderAt(closed.id, now)).toMatchObject({ account: undefined });
        expect(await stateOf((refuse) => keys.replace(id, now, refuse))).toMatchObject({ account: undefined });
        expect(await stateOf((refuse) => keys.change(id, refuse))).toMatchObject({ account: undefined, key: { id } });
      });

      it('on nothing is made on that', async () => {
        const { accountId, id } = NOBODY;
        const nobody = { account: undefined, activeKeys: 0, madeToday: 0 };
        const [key, replaced] = [undefined, undefined];
        expect(await holderAt(accountId, now)).toEqual(nobody);
        expect(await stateOf((refuse) => keys.replace(id, now, refuse))).toEqual({ ...nobody, old: undefined });
        expect(await stateOf((refuse) => keys.change(id, refuse))).toEqual({ account: undefined, key });
        expect(await stateOf((refuse) => keys.rollBack(id, refuse))).toEqual({ key, replaced });
      });

      it('on new keys is made one after the other, however many are asked for at once', async () => {
        const { id: accountId } = await openAccount();
        const before: number[] = [];
        await atOnce(10, () =>
          keys.add(accountId, now, ({ activeKeys, madeToday }) => {
            expect(madeToday).toBe(activeKeys);
            before.push(activeKeys);
            return { key: draft({ accountId }) };
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
            const others = { hash: unique.hash(), ending: 'abcd', scopes: undefined, createdAt: later(now, 1) };
            return { ...present(state.key), ...change, ...others, lastUsedAt: now };
          });
          expect(await changed).toEqual(expected);
          expect(await keys.findById(key.id)).toEqual({ account, key: expected });
        }
        expect(await stateOf((refuse) => keys.change(key.id, refuse))).toEqual({ account, key });
        expect(await keys.findById(key.id)).toEqual({ account, key });
      });

      it('on a key, to replace it or to take it back is made on what others have decided, however many race', async () => {
        const { id } = await add({ name: '' });
        const replacement = draft();
        const renamed = (key: ApiKey | undefined) => ({ ...present(key), name: `${present(key).name}x` });
        const rename = () => keys.change(id, ({ key }) => renamed(key));
        await Promise.all([
          atOnce(5, rename),
          keys.rollBack(id, ({ key }) => ({ key: renamed(key) })),
          replaceKey(ports, id, replacement),
          atOnce(5, rename),
        ]);
        const replacedBy = (await keys.findByHash(replacement.hash))?.key.id;
        expect((await keys.findById(id))?.key).toMatchObject({ name: 'x'.repeat(11), replacedBy });
      });

      it('on a key is stored before the password changes, or made on the account afterwards', async () => {
        const opened = await openWithPassword(ports.credentials, unique);
        const ids = (await atOnce(6, () => add({ accountId: opened.id }))).map(({ id }) => id);
        const versions = async () => (await keys.list(opened.id)).map(({ key }) => key.name);
        const nameByVersion = (id: ApiKeyId) =>
          keys.change(id, (state) => ({ ...present(state.key), name: `${present(state.account).credentialVersion}` }));
        const [stored] = await Promise.all([changePassword(ports, opened).then(versions), ...ids.map(nameByVersion)]);
        const former = `${opened.credentialVersion}`;
        expect((await versions()).map((name) => name === former)).toEqual(stored.map((name) => name === former));
      });

      it('is made once', async () => {
        const key = await add();
        const { id, accountId } = key;
        const [made, kept, same] = [() => ({ key: draft() }), () => ({ key }), () => key];
        const rotated = () => ({ old: key, replacement: draft() });
        await expectDecidedOnce(framework, {
          add: (counted) => keys.add(accountId, now, counted(made)),
          change: (counted) => keys.change(id, counted(same)),
          replace: (counted) => keys.replace(id, now, counted(rotated)),
          rollBack: (counted) => keys.rollBack(id, counted(kept)),
        });
      });

      it('on a rotation is stored with both keys', async () => {
        const key = await add();
        const [endsAt, next] = [later(now, HOUR), draft({ name: 'next' })];
        const { old, replacement } = await keys.replace(key.id, now, (state) => ({
          old: { ...present(state.old), expiresAt: endsAt, revokedAt: endsAt },
          replacement: next,
        }));
        expect(replacement).toMatchObject(next);
        expect(old).toEqual({ ...key, expiresAt: endsAt, revokedAt: endsAt, replacedBy: replacement.id });
        expect(await keys.findById(old.id)).toEqual({ account, key: old });
        expect(await keys.findById(replacement.id)).toEqual({ account, key: replacement });
      });

      for (const kind of ['key', 'rotated'] as const)
        describe(kind === 'key' ? 'on a new key' : 'on a rotation', () => {
          let opened: Account;
          let old: ApiKey;
          beforeAll(async () => {
            opened = await openAccount();
            old = await add({ accountId: opened.id });
          });
          /** Adds the key, or replaces the old one by it, with a notice. */
          const make = (key: NewApiKey, transaction?: Transaction): Promise<unknown> => {
            const mail = { id: unique.name() as AccountMailId, accountId: opened.id, kind, about: 'laptop' };
            const notice = { ...mail, address: opened.email, createdAt: now, expiresAt: later(now, HOUR) };
            if (kind === 'key') return keys.add(opened.id, now, () => ({ key, notice }), transaction);
            const rotate = () => ({ old: { ...old, disabledAt: now }, replacement: key, notice });
            return keys.replace(old.id, now, rotate, transaction);
          };
          const notices = async () => {
            const mails = await ports.accountMails.claim({ limit: 100, lease: HOUR });
            for (const { id } of mails) await ports.accountMails.markSent(id);
            return mails;
          };
          const expectNothing = async () => {
            expect(await keys.list(opened.id)).toEqual([{ account: opened, key: old }]);
            expect(await notices()).toEqual([]);
          };

          it('changes nothing if the key can’t be added', async () => {
            const { hash } = await add();
            await expect(make(draft({ accountId: opened.id, hash }))).rejects.toThrow();
            await expectNothing();
          });

          it('is undone with its transaction', async () => {
            await undo(ports, opened, (transaction) => make(unique.key(opened), transaction));
            await expectNothing();
          });

          it('is stored with its notice', async () => {
            await make(draft({ accountId: opened.id }));
            expect(await keys.list(opened.id)).toHaveLength(2);
            expect(await notices()).toMatchObject([{ kind, about: 'laptop', email: opened.email }]);
          });
        });

      it('on a rotation is made one after the other: one of many replaces the key, and the others add nothing', async () => {
        const { id: accountId } = await openAccount();
        const { id } = await add({ accountId });
        const { values } = await race(10, () => replaceKey(ports, id, draft({ accountId })));
        expect(values).toHaveLength(1);
        expect(await keys.list(accountId)).toHaveLength(2);
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
      await keys.change(first.id, ({ key }) => ({ ...present(key), expiresAt: later(ended, 1) }));
      await revokeKey(ports, second.id, ended);
      for (let made = 0; made < 3; made += 1) await add({ accountId, expiresAt: later(ended, -made) });
      const replaced = await add({ accountId, createdAt: longAgo });
      const lasting = await replaceKey(ports, replaced.id, draft({ accountId }));
      const last = await add({ accountId, expiresAt: ended });
      const records = ports.requestRecords;
      for (const { id } of [second, lasting]) {
        const failedRequest = { operation: 'list', status: 429, code: 'key_banned', requestId: unique.name() };
        const used = {
          accountId,
          keyId: id,
          at: now,
          isUse: true,
          isAdmitted: false,
          operation: 'list',
          failedRequest,
        };
        records.record(used);
      }
      await until(async () => (await records.listFailedRequests(accountId)).length === 2);
      expect(await keys.purge(ended)).toBe(5);
      expect(await keys.purge(ended)).toBe(0);
      expect((await keys.list(accountId)).map(({ key }) => key.id)).toEqual([first.id, replaced.id, lasting.id]);
      expect(await keys.findById(first.id)).toMatchObject({ key: { replacedBy: undefined } });
      expect(await keys.findById(replaced.id)).toMatchObject({ key: { replacedBy: lasting.id } });
      expect(await keys.findByHash(second.hash)).toBeUndefined();
      expect([...(await keys.listOperations([second.id, lasting.id])).keys()]).toEqual([lasting.id]);
      expect(await records.listFailedRequests(accountId)).toMatchObject([{ keyId: lasting.id }]);
      expect(await records.listUsage(accountId, 'day', longAgo)).toMatchObject([{ refused: 1 }]);
      const next = await add({ accountId });
      expect(next.id > last.id).toBe(true);
    });

    it('lists the operations that the given keys have called, the latest call first, and no key without any', async () => {
      const { id: accountId } = await openAccount();
      const [one, other, unasked, unused] = [await add(), await add({ accountId }), await add(), await add()];
      const call = ({ accountId, id: keyId }: ApiKey, operation: string, minutes: number) => {
        const at = later(startOf(MINUTE, now), minutes * MINUTE);
        ports.requestRecords.record({ accountId, keyId, at, isUse: true, operation });
        return { operation, lastUsedAt: at };
      };
      const [add1, list, remove] = [call(one, 'add', 2), call(one, 'list', 3), call(one, 'remove', 1)];
      const [others] = [call(other, 'list', 0), call(unasked, 'list', 0)];
      await until(async () => (await keys.listOperations([unasked.id])).size === 1);
      const found = await keys.listOperations([other.id, unused.id, one.id]);
      expect(found).toEqual(
        new Map([
          [one.id, [list, add1, remove]],
          [other.id, [others]],
        ] as const),
      );
      expect(await keys.listOperations([])).toEqual(new Map());
    });

    it('gives each of many concurrent callers its own key with its account, or none', async () => {
      const owners = [account, await openAccount(), await openAccount()];
      // Few at once, because each waits for a connection.
      const added = await atOnce(10, async (index) => {
        const owner = present(owners[index % 3]);
        return { account: owner, key: await add({ accountId: owner.id }) };
      });
      const hashes = added.flatMap(({ key }) => [key.hash, draft().hash]);
      const found = await Promise.all(hashes.map(async (hash) => keys.findByHash(hash)));
      expect(found).toEqual(added.flatMap((each) => [each, undefined]));
    });

    apiKeyLists(framework, () => ({ apiKeys: keys, openAccount, add }));
  });
}
