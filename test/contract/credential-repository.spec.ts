import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type AccountId,
  type CredentialRepository,
  HOUR,
  INT64_MAX,
  instant,
  later,
  type NewApiKey,
  type PasswordReset,
  type Ports,
} from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const NOBODY = INT64_MAX as AccountId;
const RACERS = 20;

describe.each(everyAdapter)('a credential repository (%s)', (_name, open) => {
  let adapters: Adapters;
  let ports: Ports;
  let credentials: CredentialRepository;
  beforeAll(async () => {
    adapters = await open();
    ports = adapters.ports;
    credentials = ports.credentials;
  });
  afterAll(() => adapters.close());

  const newAccount = (email = `${randomUUID()}@example.com`) => ({
    email,
    plan: { name: 'free' as const },
    createdAt: NOW,
  });
  async function opened(hash = 'hash'): Promise<Account> {
    const account = await credentials.open(newAccount(), hash);
    if (account === undefined) throw new Error('the account was not opened');
    return account;
  }
  const newHash = () => createHash('sha256').update(randomUUID()).digest('hex');
  const newReset = ({ id }: Account, changes: Partial<PasswordReset> = {}): PasswordReset => ({
    accountId: id,
    tokenHash: newHash(),
    createdAt: NOW,
    expiresAt: later(NOW, HOUR),
    ...changes,
  });
  const newKey = ({ id }: Account, changes: Partial<NewApiKey> = {}): NewApiKey => ({
    accountId: id,
    hash: newHash(),
    ending: 'wxyz',
    name: undefined,
    createdAt: NOW,
    expiresAt: undefined,
    ...changes,
  });
  const racing = <Result>(work: (index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: RACERS }, (_, index) => work(index)));

  it('finds an account with its password’s hash, by address and by id', async () => {
    const account = await opened('hash');
    expect(await credentials.findByEmail(account.email)).toEqual({ account, passwordHash: 'hash' });
    expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
    expect(await ports.accounts.findById(account.id)).toEqual(account);
    expect(await credentials.findByEmail('nobody@example.com')).toBeUndefined();
    expect(await credentials.findById(NOBODY)).toBeUndefined();
  });

  it('finds an account without a password where the operator has opened it, and doesn’t open it again', async () => {
    const account = await ports.accounts.open(newAccount());
    expect(await credentials.open(newAccount(account.email), 'theirs')).toBeUndefined();
    expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: undefined });
  });

  it('opens one account for one address, with the password of one, however many race for it', async () => {
    const email = `${randomUUID()}@example.com`;
    const results = await racing((index) => credentials.open(newAccount(email), `hash ${index}`));
    const winner = results.findIndex((account) => account !== undefined);
    expect(results.filter((account) => account !== undefined)).toHaveLength(1);
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
      const reset = newReset(account);
      expect(await credentials.addReset(reset, 3)).toBe(true);
      expect(await credentials.findReset(reset.tokenHash, instant(reset.expiresAt - 1))).toEqual(account);
      expect(await credentials.findReset(reset.tokenHash, reset.expiresAt)).toBeUndefined();
      expect(await credentials.findReset(newHash(), NOW)).toBeUndefined();
    });

    it('sets the password once, however many race with the token, and takes the others back', async () => {
      const account = await opened();
      const [reset, other] = [newReset(account), newReset(account)];
      for (const each of [reset, other]) await credentials.addReset(each, 3);
      const results = await racing((index) =>
        credentials.resetPassword({ tokenHash: reset.tokenHash, passwordHash: `reset ${index}`, at: NOW }),
      );
      const changed = { ...account, credentialVersion: account.credentialVersion + 1, provenAt: NOW };
      expect(results.filter((each) => each !== undefined)).toEqual([changed]);
      const winner = results.findIndex((each) => each !== undefined);
      expect(await credentials.findById(account.id)).toEqual({ account: changed, passwordHash: `reset ${winner}` });
      expect(await credentials.findReset(other.tokenHash, NOW)).toBeUndefined();
    });

    it('that has expired sets nothing', async () => {
      const account = await opened('hash');
      const reset = newReset(account);
      await credentials.addReset(reset, 3);
      const late = { tokenHash: reset.tokenHash, passwordHash: 'late', at: reset.expiresAt };
      expect(await credentials.resetPassword(late)).toBeUndefined();
      expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
    });

    it('is added only up to so many that can be used, however many race', async () => {
      const account = await opened();
      await credentials.addReset(newReset(account, { createdAt: instant(1), expiresAt: NOW }), 3);
      const added = await racing(() => credentials.addReset(newReset(account), 3));
      expect(added.filter((isAdded) => isAdded)).toHaveLength(3);
    });

    it('is added to no account that is not there', async () => {
      const reset = newReset(await opened(), { accountId: NOBODY });
      expect(await credentials.addReset(reset, 3)).toBe(false);
      expect(await credentials.findReset(reset.tokenHash, NOW)).toBeUndefined();
    });

    it('is taken back when the password is changed', async () => {
      const account = await opened('first');
      const reset = newReset(account);
      await credentials.addReset(reset, 3);
      await credentials.changePassword({ accountId: account.id, current: 'first', next: 'second' });
      expect(await credentials.findReset(reset.tokenHash, NOW)).toBeUndefined();
    });

    it('is forgotten once it has expired, and not before', async () => {
      const account = await opened();
      const early = later(NOW, -400 * HOUR);
      const [over, usable] = [newReset(account, { expiresAt: early }), newReset(account)];
      for (const each of [over, usable]) await credentials.addReset(each, 3);
      expect(await credentials.forgetResets(early)).toBe(1);
      expect(await credentials.forgetResets(early)).toBe(0);
      expect(await credentials.findReset(over.tokenHash, instant(0))).toBeUndefined();
      expect(await credentials.findReset(usable.tokenHash, NOW)).toEqual(account);
    });
  });

  describe('an address', () => {
    const reset = async (account: Account, at = NOW) => {
      const link = newReset(account, { createdAt: at, expiresAt: later(at, HOUR) });
      await credentials.addReset(link, 3);
      return credentials.resetPassword({ tokenHash: link.tokenHash, passwordHash: 'owner', at });
    };

    it('is proven by the first reset, which revokes every earlier key in every cache', async () => {
      const account = await opened();
      const [key, gone] = [await ports.apiKeys.add(newKey(account)), await ports.apiKeys.add(newKey(account))];
      const bystander = await ports.apiKeys.add(newKey(await opened()));
      await ports.apiKeys.revoke(gone.id, instant(1));
      expect(await ports.apiKeys.findByHash(key.hash)).toMatchObject({ key: { revokedAt: undefined } });
      const at = later(NOW, HOUR);
      expect(await reset(account, at)).toMatchObject({ id: account.id, provenAt: at });
      expect(await ports.apiKeys.findByHash(key.hash)).toMatchObject({
        account: { provenAt: at },
        key: { revokedAt: at },
      });
      expect(await ports.apiKeys.findById(gone.id)).toMatchObject({ key: { revokedAt: instant(1) } });
      expect(await ports.apiKeys.findByHash(bystander.hash)).toMatchObject({ key: { revokedAt: undefined } });
    });

    it('stays proven since then: a second reset revokes nothing', async () => {
      const account = await opened();
      await reset(account);
      const key = await ports.apiKeys.add(newKey(account));
      expect(await reset(account, later(NOW, HOUR))).toMatchObject({ provenAt: NOW });
      expect(await ports.apiKeys.findByHash(key.hash)).toMatchObject({ key: { revokedAt: undefined } });
    });

    it('of an account that the operator has opened is the operator’s word: the first reset revokes nothing', async () => {
      const account = await ports.accounts.open(newAccount());
      const key = await ports.apiKeys.add(newKey(account));
      expect(await reset(account)).toMatchObject({ provenAt: NOW });
      expect(await ports.apiKeys.findByHash(key.hash)).toMatchObject({ key: { revokedAt: undefined } });
    });

    it('is proven once by a mailed link, however many calls race; keys and password stay', async () => {
      const account = await opened('hash');
      const key = await ports.apiKeys.add(newKey(account));
      const [proof, other] = [newReset(account), newReset(account)];
      for (const each of [proof, other]) expect(await credentials.addProof(each, 3)).toBe(true);
      const results = await racing(() => credentials.proveAddress({ tokenHash: proof.tokenHash, at: NOW }));
      const proven = { ...account, provenAt: NOW };
      expect(results.filter((each) => each !== undefined)).toEqual([proven]);
      expect(await credentials.findById(account.id)).toEqual({ account: proven, passwordHash: 'hash' });
      expect(await credentials.proveAddress({ tokenHash: other.tokenHash, at: NOW })).toBeUndefined();
      await reset(account, later(NOW, HOUR));
      expect(await ports.apiKeys.findByHash(key.hash)).toMatchObject({ key: { revokedAt: undefined } });
    });

    it('is not proven by a link that has expired, is another’s, resets a password, or was taken back', async () => {
      const [account, bystander] = [await opened(), await opened()];
      const [expired, usable, taken, link] = [
        newReset(account),
        newReset(bystander),
        newReset(account),
        newReset(account),
      ];
      for (const each of [expired, usable, taken]) await credentials.addProof(each, 3);
      await credentials.addReset(link, 3);
      expect(await credentials.proveAddress({ tokenHash: expired.tokenHash, at: expired.expiresAt })).toBeUndefined();
      expect(await credentials.proveAddress({ tokenHash: link.tokenHash, at: NOW })).toBeUndefined();
      expect(await credentials.findReset(usable.tokenHash, NOW)).toBeUndefined();
      expect(await credentials.proveAddress({ tokenHash: usable.tokenHash, at: NOW })).toMatchObject({
        id: bystander.id,
      });
      expect(await credentials.findById(account.id)).toMatchObject({ account: { provenAt: undefined } });
      await credentials.close({ accountId: account.id, current: 'hash', at: NOW });
      expect(await credentials.proveAddress({ tokenHash: taken.tokenHash, at: NOW })).toBeUndefined();
    });

    it('gets links only up to so many that can be used, and they are forgotten once they have expired', async () => {
      const account = await opened();
      const early = later(NOW, -500 * HOUR);
      await credentials.addProof(newReset(account, { createdAt: instant(1), expiresAt: early }), 3);
      const added = await racing(() => credentials.addProof(newReset(account), 3));
      expect(added.filter((isAdded) => isAdded)).toHaveLength(3);
      expect(await credentials.forgetResets(early)).toBe(1);
      expect(await credentials.forgetResets(early)).toBe(0);
    });

    it('that is proven by a reset keeps no earlier key, however many are issued and rotated meanwhile', async () => {
      for (let round = 0; round < 5; round += 1) {
        const account = await opened();
        const { credentialVersion: version } = account;
        const old = await Promise.all(Array.from({ length: 8 }, () => ports.apiKeys.add(newKey(account))));
        const issue = () => ports.apiKeys.add(newKey(account), undefined, version);
        const rotate = (id: (typeof old)[number]['id']) =>
          ports.apiKeys.replace(id, newKey(account), later(NOW, HOUR), undefined, version);
        const results = await Promise.allSettled([
          ...old.slice(0, 4).map(({ id }) => rotate(id)),
          ...Array.from({ length: 6 }, issue),
          reset(account),
          ...old.slice(4).map(({ id }) => rotate(id)),
          ...Array.from({ length: 6 }, issue),
        ]);
        expect(results[10]).toMatchObject({ status: 'fulfilled', value: { provenAt: NOW } });
        const left = (await ports.apiKeys.list(account.id)).filter(({ key }) => key.revokedAt === undefined);
        expect(left).toEqual([]);
        await expect(issue()).rejects.toMatchObject({ code: 'not_found' });
        expect(await ports.apiKeys.add(newKey(account), undefined, version + 1)).toMatchObject({
          revokedAt: undefined,
        });
      }
    });
  });

  describe('closing', () => {
    const closing = ({ id }: Account, current = 'hash') => credentials.close({ accountId: id, current, at: NOW });

    it('happens only if the password is still the checked one', async () => {
      const account = await opened('hash');
      expect(await closing(account, 'another')).toBe(false);
      expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
      expect(await closing(account)).toBe(true);
      expect(await closing(account)).toBe(false);
    });

    it('makes the account unfindable, and frees its address', async () => {
      const account = await opened();
      const reset = newReset(account);
      await credentials.addReset(reset, 3);
      await closing(account);
      expect(await credentials.findById(account.id)).toBeUndefined();
      expect(await credentials.findByEmail(account.email)).toBeUndefined();
      expect(await ports.accounts.findById(account.id)).toBeUndefined();
      expect(await ports.accounts.findByEmail(account.email)).toBeUndefined();
      expect((await ports.accounts.list()).map(({ id }) => id)).not.toContain(account.id);
      expect(await credentials.findReset(reset.tokenHash, NOW)).toBeUndefined();
      expect(await ports.accounts.changePlan(account.email, { name: 'pro' })).toBeUndefined();
      const anew = await ports.accounts.open(newAccount(account.email));
      expect(anew.id).not.toBe(account.id);
    });

    it('revokes every key at once, in every cache too; an earlier revocation keeps its instant', async () => {
      const account = await opened();
      const [first, second] = [await ports.apiKeys.add(newKey(account)), await ports.apiKeys.add(newKey(account))];
      await ports.apiKeys.revoke(first.id, instant(1));
      expect(await ports.apiKeys.findByHash(second.hash)).toMatchObject({ key: { revokedAt: undefined } });
      await closing(account);
      expect(await ports.apiKeys.findByHash(second.hash)).toMatchObject({ key: { revokedAt: NOW } });
      expect(await ports.apiKeys.findById(first.id)).toMatchObject({ key: { revokedAt: instant(1) } });
    });

    it('leaves no working key, however many are issued and rotated meanwhile', async () => {
      for (let round = 0; round < 5; round += 1) {
        const account = await opened();
        const old = await Promise.all(Array.from({ length: 8 }, () => ports.apiKeys.add(newKey(account))));
        await Promise.allSettled([
          ...old.slice(0, 4).map(({ id }) => ports.apiKeys.replace(id, newKey(account), later(NOW, HOUR))),
          ...Array.from({ length: 6 }, () => ports.apiKeys.add(newKey(account))),
          closing(account),
          ...old.slice(4).map(({ id }) => ports.apiKeys.replace(id, newKey(account), later(NOW, HOUR))),
          ...Array.from({ length: 6 }, () => ports.apiKeys.add(newKey(account))),
        ]);
        const left = (await ports.apiKeys.list(account.id)).filter(({ key }) => key.revokedAt === undefined);
        expect(left).toEqual([]);
        await expect(ports.apiKeys.add(newKey(account))).rejects.toMatchObject({ code: 'not_found' });
      }
    });

    it('racing with a reset leaves the account closed or with the new password, never a mixture', async () => {
      for (let round = 0; round < 5; round += 1) {
        const account = await opened();
        const reset = newReset(account);
        await credentials.addReset(reset, 3);
        const [isClosed, resetTo] = await Promise.all([
          closing(account),
          credentials.resetPassword({ tokenHash: reset.tokenHash, passwordHash: 'new', at: NOW }),
        ]);
        expect(isClosed).toBe(resetTo === undefined);
        expect((await credentials.findById(account.id))?.passwordHash).toBe(isClosed ? undefined : 'new');
      }
    });
  });
});
