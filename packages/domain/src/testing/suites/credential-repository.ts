import type { Account, AccountId } from '../../accounts/account.js';
import type { CredentialRepository } from '../../accounts/credential-repository.js';
import { HOUR, instant, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { addressChanges } from './credential-address-changes.js';
import { closing } from './credential-closing.js';
import { addKey, atOnce, mailLink, NOON, openWithPassword, replaceKey, revokeKey, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'apiKeys' | 'credentials';

const NOBODY = INT64_MAX as AccountId;

/** The guarantees of every `CredentialRepository`. */
export function credentialRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect } = framework;
  describe(`a credential repository (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    let credentials: CredentialRepository;
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
      credentials = ports.credentials;
    });
    afterAll(() => adapters.close());

    const opened = (hash?: string) => openWithPassword(credentials, unique, hash);
    const racing = <Result>(work: (index: number) => Promise<Result>) => atOnce(20, work);

    it('finds an account with its password’s hash, by address and by id', async () => {
      const account = await opened('hash');
      expect(await credentials.findByEmail(account.email)).toEqual({ account, passwordHash: 'hash' });
      expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
      expect(await ports.accounts.findById(account.id)).toEqual(account);
      expect(await credentials.findByEmail('nobody@example.com')).toBeUndefined();
      expect(await credentials.findById(NOBODY)).toBeUndefined();
    });

    it('finds an account without a password where the operator has opened it, and doesn’t open it again', async () => {
      const account = await ports.accounts.open(unique.account());
      expect(await credentials.open(unique.account(account.email), 'theirs')).toBeUndefined();
      expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: undefined });
    });

    it('opens one account for one address, with the password of one, however many race for it', async () => {
      const email = unique.email();
      const results = await racing((index) =>
        credentials.open({ ...unique.account(email), scopes: ['pets:read'] }, `hash ${index}`),
      );
      const winner = results.findIndex((account) => account !== undefined);
      expect(results.filter((account) => account !== undefined)).toMatchObject([{ email, scopes: ['pets:read'] }]);
      expect(await credentials.findByEmail(email)).toEqual({
        account: results[winner],
        passwordHash: `hash ${winner}`,
      });
    });

    it('changes a password where the current one is still there, once however many race', async () => {
      const account = await opened('first');
      const results = await racing((index) =>
        credentials.changePassword({ accountId: account.id, current: 'first', next: `next ${index}` }),
      );
      const changed = { ...account, credentialVersion: account.credentialVersion + 1 };
      expect(results.filter((each) => each !== undefined)).toEqual([changed]);
      const winner = results.findIndex((each) => each !== undefined);
      expect(await credentials.findById(account.id)).toEqual({ account: changed, passwordHash: `next ${winner}` });
    });

    it('hashes a password anew where it is still there, and keeps the version', async () => {
      const account = await opened('first');
      await credentials.rehash({ accountId: account.id, current: 'first', next: 'second' });
      await credentials.rehash({ accountId: account.id, current: 'first', next: 'third' });
      expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'second' });
    });

    describe('a reset', () => {
      it('is found until it expires, and by its own token', async () => {
        const account = await opened();
        const reset = unique.link(account);
        expect(await mailLink(ports, 'reset', reset, 3)).toBe(true);
        expect(await credentials.findReset(reset.tokenHash, instant(reset.expiresAt - 1))).toEqual(account);
        expect(await credentials.findReset(reset.tokenHash, reset.expiresAt)).toBeUndefined();
        expect(await credentials.findReset(unique.hash(), NOON)).toBeUndefined();
      });

      it('sets the password once, however many race with the token, and takes the others back', async () => {
        const account = await opened();
        const [reset, other] = [unique.link(account), unique.link(account)];
        for (const each of [reset, other]) await mailLink(ports, 'reset', each, 3);
        const results = await racing((index) =>
          credentials.resetPassword({ tokenHash: reset.tokenHash, passwordHash: `reset ${index}`, at: NOON }),
        );
        const changed = { ...account, credentialVersion: account.credentialVersion + 1, provenAt: NOON };
        expect(results.filter((each) => each !== undefined)).toEqual([changed]);
        const winner = results.findIndex((each) => each !== undefined);
        expect(await credentials.findById(account.id)).toEqual({ account: changed, passwordHash: `reset ${winner}` });
        expect(await credentials.findReset(other.tokenHash, NOON)).toBeUndefined();
      });

      it('that has expired sets nothing', async () => {
        const account = await opened('hash');
        const reset = unique.link(account);
        await mailLink(ports, 'reset', reset, 3);
        const late = { tokenHash: reset.tokenHash, passwordHash: 'late', at: reset.expiresAt };
        expect(await credentials.resetPassword(late)).toBeUndefined();
        expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
      });
    });

    describe('an address', () => {
      const reset = async (account: Account, at = NOON) => {
        const link = unique.link(account, { createdAt: at, expiresAt: later(at, HOUR) });
        await mailLink(ports, 'reset', link, 3);
        return credentials.resetPassword({ tokenHash: link.tokenHash, passwordHash: 'owner', at });
      };

      it('is proven by the first reset, which revokes every earlier key', async () => {
        const account = await opened();
        const [key, gone] = [await addKey(ports, unique.key(account)), await addKey(ports, unique.key(account))];
        const bystander = await addKey(ports, unique.key(await opened()));
        await revokeKey(ports, gone.id, instant(1));
        expect(await ports.apiKeys.findById(key.id)).toMatchObject({ key: { revokedAt: undefined } });
        const at = later(NOON, HOUR);
        expect(await reset(account, at)).toMatchObject({ id: account.id, provenAt: at });
        expect(await ports.apiKeys.findById(key.id)).toMatchObject({
          account: { provenAt: at },
          key: { revokedAt: at },
        });
        expect(await ports.apiKeys.findById(gone.id)).toMatchObject({ key: { revokedAt: instant(1) } });
        expect(await ports.apiKeys.findById(bystander.id)).toMatchObject({ key: { revokedAt: undefined } });
      });

      it('stays proven since then: a second reset revokes nothing', async () => {
        const account = await opened();
        await reset(account);
        const key = await addKey(ports, unique.key(account));
        expect(await reset(account, later(NOON, HOUR))).toMatchObject({ provenAt: NOON });
        expect(await ports.apiKeys.findById(key.id)).toMatchObject({ key: { revokedAt: undefined } });
      });

      it('of an account that the operator has opened is the operator’s word: the first reset revokes nothing', async () => {
        const account = await ports.accounts.open(unique.account());
        const key = await addKey(ports, unique.key(account));
        expect(await reset(account)).toMatchObject({ provenAt: NOON });
        expect(await ports.apiKeys.findById(key.id)).toMatchObject({ key: { revokedAt: undefined } });
      });

      it('is proven once by a mailed link, however many calls race; keys and password stay', async () => {
        const account = await opened('hash');
        const key = await addKey(ports, unique.key(account));
        const [proof, other] = [unique.link(account), unique.link(account)];
        for (const each of [proof, other]) expect(await mailLink(ports, 'proof', each, 3)).toBe(true);
        const results = await racing(() => credentials.proveAddress({ tokenHash: proof.tokenHash, at: NOON }));
        const proven = { ...account, provenAt: NOON };
        expect(results.filter((each) => each !== undefined)).toEqual([proven]);
        expect(await credentials.findById(account.id)).toEqual({ account: proven, passwordHash: 'hash' });
        expect(await credentials.proveAddress({ tokenHash: other.tokenHash, at: NOON })).toBeUndefined();
        await reset(account, later(NOON, HOUR));
        expect(await ports.apiKeys.findById(key.id)).toMatchObject({ key: { revokedAt: undefined } });
      });

      it('is not proven by a link that has expired, is another’s, resets a password, or was taken back', async () => {
        const [account, bystander] = [await opened(), await opened()];
        const [expired, usable, taken, link] = [
          unique.link(account),
          unique.link(bystander),
          unique.link(account),
          unique.link(account),
        ];
        for (const each of [expired, usable, taken]) await mailLink(ports, 'proof', each, 3);
        await mailLink(ports, 'reset', link, 3);
        expect(await credentials.proveAddress({ tokenHash: expired.tokenHash, at: expired.expiresAt })).toBeUndefined();
        expect(await credentials.proveAddress({ tokenHash: link.tokenHash, at: NOON })).toBeUndefined();
        expect(await credentials.findReset(usable.tokenHash, NOON)).toBeUndefined();
        expect(await credentials.proveAddress({ tokenHash: usable.tokenHash, at: NOON })).toMatchObject({
          id: bystander.id,
        });
        expect(await credentials.findById(account.id)).toMatchObject({ account: { provenAt: undefined } });
        await credentials.close({ accountId: account.id, current: 'hash', at: NOON });
        expect(await credentials.proveAddress({ tokenHash: taken.tokenHash, at: NOON })).toBeUndefined();
      });

      it('gets links only up to so many that can be used, and they are purged once they have expired', async () => {
        const account = await opened();
        const early = later(NOON, -500 * HOUR);
        await mailLink(ports, 'proof', unique.link(account, { createdAt: instant(1), expiresAt: early }), 3);
        const added = await racing(() => mailLink(ports, 'proof', unique.link(account), 3));
        expect(added.filter((isAdded) => isAdded)).toHaveLength(3);
        expect(await credentials.purgeLinks(early)).toBe(1);
        expect(await credentials.purgeLinks(early)).toBe(0);
      });

      it('that is proven by a reset keeps no earlier key, however many are issued and rotated meanwhile', async () => {
        for (let round = 0; round < 3; round += 1) {
          const account = await opened();
          const { credentialVersion: version } = account;
          const old = await Promise.all(Array.from({ length: 8 }, () => addKey(ports, unique.key(account))));
          const issue = () => addKey(ports, unique.key(account), version);
          const rotate = (id: (typeof old)[number]['id']) => replaceKey(ports, id, unique.key(account), version);
          const results = await Promise.allSettled([
            ...old.slice(0, 4).map(({ id }) => rotate(id)),
            ...Array.from({ length: 6 }, issue),
            reset(account),
            ...old.slice(4).map(({ id }) => rotate(id)),
            ...Array.from({ length: 6 }, issue),
          ]);
          expect(results[10]).toMatchObject({ status: 'fulfilled', value: { provenAt: NOON } });
          const left = (await ports.apiKeys.list(account.id)).filter(({ key }) => key.revokedAt === undefined);
          expect(left).toEqual([]);
          await expect(issue()).rejects.toMatchObject({ code: 'not_found' });
          expect(await addKey(ports, unique.key(account), version + 1)).toMatchObject({
            revokedAt: undefined,
          });
        }
      });
    });

    describe('changing the address', () => {
      addressChanges(framework, () => ports, unique);
    });

    describe('closing', () => {
      closing(framework, () => ports, unique);
    });
  });
}
