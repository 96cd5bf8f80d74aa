import type { Account, AccountId } from '../../accounts/account.js';
import {
  type AccountMailId,
  decideToken,
  LINK_KINDS,
  type LinkMailState,
  type NewLinkMail,
  type TokenState,
} from '../../accounts/mails/account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail, ClaimedLinkMail } from '../../accounts/mails/account-mail-queue.js';
import { HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { deliveryQueue } from './delivery-queue.js';
import { atOnce, changePassword, closeAccount, isLinkMail, NOON, openWithPassword, Unique } from './fixtures.js';
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
      expect(await mails.add(mail, () => true)).toBe(true);
      return mail;
    };
    const claim = () => mails.claim({ limit: 1_000, lease: MINUTE });
    const claimOne = async (): Promise<ClaimedLinkMail> => {
      const [claimed, ...others] = await claim();
      if (claimed === undefined || others.length > 0 || !isLinkMail(claimed))
        throw new Error('not one link was claimed');
      return claimed;
    };
    const newHash = () => unique.hash();
    const addToken = async (claimed: ClaimedLinkMail, hash = newHash()) => {
      expect(await mails.addToken(claimed, hash, () => true)).toBe(true);
      return hash;
    };
    /** What there is to decide on, when a mail is added or a token. */
    const stateOf = async <State>(ask: (decide: (state: State) => boolean) => Promise<boolean>) => {
      const seen: State[] = [];
      expect(await ask((state) => seen.push(state) < 0)).toBe(false);
      return seen[0];
    };

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

    it('drops no mail for a claim that another has followed', async () => {
      await added(await opened());
      const stale = await claimOne();
      await letPass(MINUTE);
      await claimOne();
      await mails.markDropped(stale);
      expect(await mails.backlog()).toMatchObject({ queued: 1 });
    });

    deliveryQueue(framework, () => ({
      queue: mails,
      add: async (createdAt = NOON) =>
        (await added(await opened(), { createdAt, expiresAt: later(createdAt, HOUR) })).id,
      letPass,
    }));

    describe('a mail', () => {
      it('is decided on with its account, and with the mails of its kind that wait or whose links work', async () => {
        const account = await opened();
        await added(account, { createdAt: instant(1), expiresAt: NOON });
        await addToken(await claimOne());
        await letPass(MINUTE);
        await mails.markSent((await claimOne()).id);
        const { id } = await added(account);
        const claimed = await claimOne();
        for (let attempt = 0; attempt < 3; attempt += 1) await addToken(claimed);
        await mails.markSent(id);
        await added(account);
        await added(await opened());
        const usable = async (changes: Partial<NewLinkMail> = {}) => {
          const state = await stateOf<LinkMailState>((decide) => mails.add(newMail(account, changes), decide));
          expect(state?.account).toEqual(account);
          return state?.usable;
        };
        expect(await usable()).toBe(2);
        expect(await usable({ kind: 'proof' })).toBe(0);
        expect(await usable({ createdAt: instant(2) })).toBe(3);
        expect(await usable({ createdAt: later(NOON, HOUR) })).toBe(0);
        expect(await claim()).toHaveLength(2);
      });

      it('is decided on one after the other, however many race', async () => {
        const account = await opened();
        const seen: number[] = [];
        await atOnce(10, () =>
          mails.add(newMail(account), ({ usable }) => {
            seen.push(usable);
            return usable < 3;
          }),
        );
        expect(seen.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 3, 3, 3, 3, 3, 3]);
        expect(await claim()).toHaveLength(3);
      });

      it('is decided on without an account, if there is none, or it is closed', async () => {
        const account = await opened();
        await closeAccount(ports, account);
        for (const id of [account.id, INT64_MAX as AccountId]) {
          const state = await stateOf<LinkMailState>((decide) => mails.add(newMail({ id }), decide));
          expect(state).toEqual({ account: undefined, usable: 0 });
        }
      });

      it('has a link that works by each of its tokens, if that was decided', async () => {
        const account = await opened();
        for (const kind of LINK_KINDS) {
          const { id, expiresAt } = await added(account, { kind });
          const hashes: string[] = [];
          for (let attempt = 0; attempt < 2; attempt += 1) {
            await letPass(MINUTE);
            const claimed = await claimOne();
            const refused = newHash();
            const state = await stateOf<TokenState>((decide) => mails.addToken(claimed, refused, decide));
            expect(state).toMatchObject({ account, mail: { expiresAt } });
            expect(await ports.credentials.findLink(kind, refused)).toBeUndefined();
            hashes.push(await addToken(claimed));
          }
          await mails.markSent(id);
          for (const hash of hashes) {
            expect(await ports.credentials.findLink(kind, hash)).toMatchObject({ credentials: { account }, expiresAt });
          }
        }
      });

      it('is not there to decide on for a claim that another has followed, or once it is sent', async () => {
        const { id } = await added(await opened());
        const stale = await claimOne();
        await letPass(MINUTE);
        const current = await claimOne();
        const mailOf = async (claimed: ClaimedLinkMail) =>
          (await stateOf<TokenState>((decide) => mails.addToken(claimed, newHash(), decide)))?.mail;
        expect(await mailOf(stale)).toBeUndefined();
        expect(await mailOf(current)).toBeDefined();
        await mails.markSent(id);
        expect(await mailOf(current)).toBeUndefined();
      });

      for (const kind of LINK_KINDS)
        it(`of a ${kind} is due at once, of no use, and counts no more once its kind is revoked`, async () => {
          const account = await opened();
          const bystander = await opened();
          await added(account, { kind });
          const tokenHash = await addToken(await claimOne());
          await added(account, { kind });
          await mails.postpone(await claimOne(), HOUR);
          await added(bystander, { kind });
          await mails.postpone(await claimOne(), HOUR);
          await ports.credentials.change(account.id, (state) => state && { credentials: state, revokedLinks: [kind] });
          expect(await ports.credentials.findLink(kind, tokenHash)).toBeUndefined();
          const state = await stateOf<LinkMailState>((decide) => mails.add(newMail(account, { kind }), decide));
          expect(state).toMatchObject({ usable: 0 });
          const claimed = (await claim()).filter(isLinkMail);
          expect(claimed.map(({ accountId }) => accountId)).toEqual([account.id, account.id]);
          for (const each of claimed) {
            const token = await stateOf<TokenState>((decide) => mails.addToken(each, newHash(), decide));
            expect(token).toMatchObject({ mail: { expiresAt: 0 } });
            await mails.markDropped(each);
          }
          expect(await mails.backlog()).toMatchObject({ queued: 1 });
          await letPass(HOUR);
          expect(await claimOne()).toMatchObject({ accountId: bystander.id });
        });

      it('whose link is revoked while it is sent has no link that works afterwards', async () => {
        for (let round = 0; round < 3; round += 1) {
          const account = await opened();
          await added(account, { kind: 'change' });
          const claimed = await claimOne();
          const tokenHash = newHash();
          await Promise.all([
            mails.addToken(claimed, tokenHash, (state) => decideToken(state, NOON)),
            changePassword(ports, account),
          ]);
          expect(await ports.credentials.findLink('change', tokenHash)).toBeUndefined();
          await mails.markSent(claimed.id);
        }
      });
    });
  });
}
