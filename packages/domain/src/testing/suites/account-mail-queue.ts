import type { Account, AccountId } from '../../accounts/account.js';
import type { AccountMailId, LinkKind, NewLinkMail } from '../../accounts/account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail } from '../../accounts/account-mail-queue.js';
import { HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { deliveryQueue } from './delivery-queue.js';
import { atOnce, NOON, openWithPassword, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'credentials';

/** The guarantees of every `AccountMailQueue`. */
export function accountMailQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, afterAll, afterEach, expect } = framework;
  describe(`an account mail queue (${name})`, () => {
    const unique = new Unique();
    let adapters: OpenedQueue<Needed>;
    let ports: OpenedQueue<Needed>['ports'];
    let mails: AccountMailQueue;
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
      mails = ports.accountMails;
    });
    afterAll(() => adapters.close());
    // Each test begins without mails that wait.
    afterEach(async () => {
      await letPass(1_000 * HOUR);
      for (const { id } of await claim()) await mails.markSent(id);
    });

    const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
    const opened = () => openWithPassword(ports.credentials, unique);
    const newMail = ({ id: accountId }: Pick<Account, 'id'>, changes: Partial<NewLinkMail> = {}): NewLinkMail => ({
      id: unique.name() as AccountMailId,
      accountId,
      kind: 'reset',
      page: 'https://portal.example.com/reset-password',
      createdAt: NOON,
      expiresAt: later(NOON, HOUR),
      ...changes,
    });
    const added = async (account: Account, changes: Partial<NewLinkMail> = {}) => {
      const mail = newMail(account, changes);
      expect(await mails.add(mail, 3)).toBe(true);
      return mail;
    };
    const claim = () => mails.claim({ limit: 1_000, lease: MINUTE });
    const claimOne = async (): Promise<ClaimedAccountMail> => {
      const [claimed, ...others] = await claim();
      if (claimed === undefined || others.length > 0) throw new Error('not one mail was claimed');
      return claimed;
    };
    const newHash = () => unique.hash();
    const racing = <Result>(work: () => Promise<Result>) => atOnce(20, work);

    it('hands out what was added with the account’s address', async () => {
      const account = await opened();
      const mail = await added(account);
      expect(await claim()).toEqual([{ ...mail, email: account.email, number: 1, failures: 0 }]);
    });

    it('hands out a mail to another address with that address', async () => {
      const { address, ...mail } = await added(await opened(), { kind: 'change', address: unique.email() });
      expect(await claim()).toEqual([{ ...mail, email: address, number: 1, failures: 0 }]);
    });

    it('purges a mail that was sent, given up or dropped once its link has expired, and no queued one', async () => {
      for (const end of [
        (claimed: ClaimedAccountMail) => mails.markSent(claimed.id),
        (claimed: ClaimedAccountMail) => mails.markFailed(claimed),
        (claimed: ClaimedAccountMail) => mails.markDropped(claimed),
      ]) {
        const { expiresAt } = await added(await opened(), { expiresAt: later(NOON, -HOUR) });
        expect(await mails.purge(expiresAt)).toBe(0);
        await end(await claimOne());
        expect(await mails.backlog()).toEqual({ queued: 0, oldest: undefined });
        expect(await mails.purge(later(expiresAt, -1))).toBe(0);
        expect(await mails.purge(expiresAt)).toBe(1);
      }
    });

    it('neither drops a mail nor adds a token for a claim that another has followed', async () => {
      await added(await opened());
      const stale = await claimOne();
      await letPass(MINUTE);
      await claimOne();
      await mails.markDropped(stale);
      const hash = newHash();
      expect(await mails.addToken(stale, hash, NOON)).toBe(false);
      expect(await ports.credentials.findReset(hash, NOON)).toBeUndefined();
      expect(await mails.backlog()).toMatchObject({ queued: 1 });
    });

    deliveryQueue(framework, () => ({
      queue: mails,
      add: async (createdAt = NOON) =>
        (await added(await opened(), { createdAt, expiresAt: later(createdAt, HOUR) })).id,
      letPass,
    }));

    describe('a mail', () => {
      it('is queued only up to so many that wait or whose links can be used, however many race', async () => {
        const account = await opened();
        await mails.add(newMail(account, { createdAt: instant(1), expiresAt: NOON }), 3);
        await mails.markSent((await claimOne()).id);
        const one = await added(account);
        const claimed = await claimOne();
        for (let attempt = 0; attempt < 3; attempt += 1) await mails.addToken(claimed, newHash(), NOON);
        await mails.markSent(one.id);
        const results = await racing(() => mails.add(newMail(account), 3));
        expect(results.filter((isAdded) => isAdded)).toHaveLength(2);
        expect(await mails.add(newMail(account, { kind: 'proof' }), 3)).toBe(true);
        const later1 = { createdAt: later(NOON, HOUR), expiresAt: later(NOON, 2 * HOUR) };
        expect(await mails.add(newMail(account, later1), 3)).toBe(true);
      });

      it('is queued for no account that is not there, or is closed', async () => {
        const account = await opened();
        await ports.credentials.close({ accountId: account.id, current: 'hash', at: NOON });
        for (const id of [account.id, INT64_MAX as AccountId]) expect(await mails.add(newMail({ id }), 3)).toBe(false);
      });

      for (const kind of ['reset', 'proof'] as const)
        it(`of a ${kind} has a link that works for each of its tokens`, async () => {
          const account = await opened();
          const { expiresAt } = await added(account, { kind });
          const hashes = [newHash(), newHash()];
          for (const hash of hashes) expect(await mails.addToken(await claimAgain(), hash, NOON)).toBe(true);
          const [first = '', second = ''] = hashes;
          if (kind === 'reset') {
            for (const hash of hashes) {
              expect(await ports.credentials.findReset(hash, later(expiresAt, -1))).toEqual(account);
              expect(await ports.credentials.findReset(hash, expiresAt)).toBeUndefined();
            }
          } else {
            expect(await ports.credentials.proveAddress({ tokenHash: second, at: expiresAt })).toBeUndefined();
            expect(await ports.credentials.proveAddress({ tokenHash: second, at: NOON })).toMatchObject({
              id: account.id,
            });
            expect(await ports.credentials.proveAddress({ tokenHash: first, at: NOON })).toBeUndefined();
          }
        });
      const claimAgain = async () => {
        await letPass(MINUTE);
        return claimOne();
      };

      it('gets no token once its link has expired', async () => {
        const { expiresAt } = await added(await opened());
        const claimed = await claimOne();
        expect(await mails.addToken(claimed, newHash(), expiresAt)).toBe(false);
        expect(await mails.addToken(claimed, newHash(), later(expiresAt, -1))).toBe(true);
      });

      const takers: readonly [string, LinkKind, (account: Account, tokenHash: string) => Promise<unknown>][] = [
        [
          'the password is changed',
          'reset',
          ({ id }) => ports.credentials.changePassword({ accountId: id, current: 'hash', next: 'next' }),
        ],
        [
          'another link has reset the password',
          'reset',
          (_account, tokenHash) => ports.credentials.resetPassword({ tokenHash, passwordHash: 'next', at: NOON }),
        ],
        [
          'another link has proven the address',
          'proof',
          (_account, tokenHash) => ports.credentials.proveAddress({ tokenHash, at: NOON }),
        ],
        [
          'the password is changed, which the owner may do because of it',
          'change',
          ({ id }) => ports.credentials.changePassword({ accountId: id, current: 'hash', next: 'next' }),
        ],
        [
          'the account is closed',
          'proof',
          ({ id }) => ports.credentials.close({ accountId: id, current: 'hash', at: NOON }),
        ],
      ];
      for (const [what, kind, takeBack] of takers)
        it(`is due at once, gets no token, and counts no more if ${what}`, async () => {
          const account = await opened();
          const bystander = await opened();
          const tokenHash = newHash();
          await added(account, { kind });
          await mails.addToken(await claimOne(), tokenHash, NOON);
          await added(account, { kind });
          await mails.postpone(await claimOne(), HOUR);
          await added(bystander, { kind });
          await mails.postpone(await claimOne(), HOUR);
          await takeBack(account, tokenHash);
          const claimed = await claim();
          expect(new Set(claimed.map(({ accountId }) => accountId))).toEqual(new Set([account.id]));
          for (const each of claimed) {
            expect(await mails.addToken(each, newHash(), NOON)).toBe(false);
            await mails.markDropped(each);
          }
          expect(await mails.backlog()).toMatchObject({ queued: 1 });
          await letPass(HOUR);
          expect(await claimOne()).toMatchObject({ accountId: bystander.id });
        });

      it('whose link is taken back while it is sent has no link that works afterwards', async () => {
        for (let round = 0; round < 3; round += 1) {
          const account = await opened();
          await added(account);
          const claimed = await claimOne();
          const tokenHash = newHash();
          await Promise.all([
            mails.addToken(claimed, tokenHash, NOON),
            ports.credentials.changePassword({ accountId: account.id, current: 'hash', next: 'next' }),
          ]);
          expect(await ports.credentials.findReset(tokenHash, NOON)).toBeUndefined();
          await mails.markSent(claimed.id);
        }
      });
    });
  });
}
