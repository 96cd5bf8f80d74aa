import type { Account, AccountId } from '../../accounts/account.js';
import {
  type AccountMailId,
  decideToken,
  LINK_KINDS,
  type LinkMailState,
  type NewAccountMail,
  type NewLinkMail,
  type NewSignUpMail,
  type SignUpMailState,
  type TokenState,
} from '../../accounts/mails/account-mail.js';
import {
  type AccountMailQueue,
  type ClaimedAccountMail,
  type ClaimedLinkMail,
  isLinkMail,
} from '../../accounts/mails/account-mail-queue.js';
import { HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { deliveryQueue } from './delivery-queue.js';
import {
  atOnce,
  changePassword,
  claimOne,
  closeAccount,
  expectDecidedOnce,
  NOON,
  openBefore,
  openWithPassword,
  present,
  Unique,
} from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'credentials';

/** The guarantees of every `AccountMailQueue`. */
export function accountMailQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, afterEach, expect } = framework;
  describe(`an account mail queue (${name})`, () => {
    const unique = new Unique();
    let adapters: OpenedQueue<Needed>;
    let ports: OpenedQueue<Needed>['ports'];
    let mails: AccountMailQueue;
    openBefore(framework, open, (opened) => {
      adapters = opened;
      ports = adapters.ports;
      mails = ports.accountMails;
    });
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
    const claimLink = async () => (await claimOne(mails)) as ClaimedLinkMail;
    const addToken = async (claimed: ClaimedLinkMail, hash = unique.hash()) => {
      expect(await mails.addToken(claimed, hash, () => true)).toBe(true);
      return hash;
    };
    /** The state on which it is decided whether the mail is added. */
    const stateFor = async (mail: NewLinkMail) => {
      const seen: LinkMailState[] = [];
      expect(await mails.add(mail, (state) => seen.push(state) < 0)).toBe(false);
      return present(seen[0]);
    };
    /** The state on which it is decided whether the mail gets that token. */
    const tokenStateFor = async (claimed: ClaimedLinkMail, hash = unique.hash()) => {
      const seen: TokenState[] = [];
      expect(await mails.addToken(claimed, hash, (state) => seen.push(state) < 0)).toBe(false);
      return present(seen[0]);
    };

    it('hands out what was added, with the address of the account or the one that it is for', async () => {
      const account = await opened();
      for (const changes of [{}, { kind: 'change', address: unique.email() }] as const) {
        const { address, ...mail } = await added(account, changes);
        expect(await claim()).toEqual([{ ...mail, email: address ?? account.email, number: 1, failures: 0 }]);
      }
    });

    it('purges a mail that was sent, given up or dropped once its link has expired, and no queued one', async () => {
      for (const end of [
        (claimed: ClaimedAccountMail) => mails.markSent(claimed.id),
        (claimed: ClaimedAccountMail) => mails.markFailed(claimed),
        (claimed: ClaimedAccountMail) => mails.markDropped(claimed),
      ]) {
        const { expiresAt } = await added(await opened(), { expiresAt: later(NOON, -HOUR) });
        expect(await mails.purge(expiresAt)).toBe(0);
        await end(await claimLink());
        expect(await mails.backlog()).toEqual({ queued: 0, oldest: undefined });
        expect(await mails.purge(later(expiresAt, -1))).toBe(0);
        expect(await mails.purge(expiresAt)).toBe(1);
      }
    });

    it('drops no mail for a claim that another has followed', async () => {
      await added(await opened());
      const stale = await claimLink();
      await letPass(MINUTE);
      await claimLink();
      await mails.markDropped(stale);
      expect(await mails.backlog()).toMatchObject({ queued: 1 });
    });

    it('makes each decision once', async () => {
      const mail = newMail(await opened());
      const [yes, link] = [() => true, () => 'link' as const];
      await expectDecidedOnce(framework, {
        add: (counted) => mails.add(mail, counted(yes)),
        addToken: async (counted) => mails.addToken(await claimLink(), unique.hash(), counted(yes)),
        addSignUpToken: async (counted) => {
          await letPass(MINUTE);
          await mails.addSignUpToken(await claimOne(mails), unique.hash(), counted(link));
        },
      });
    });

    deliveryQueue(framework, () => ({
      queue: mails,
      openAccount: opened,
      add: async (createdAt = NOON, account) =>
        (await added(account ?? (await opened()), { createdAt, expiresAt: later(createdAt, HOUR) })).id,
      letPass,
    }));

    describe('a mail to somebody who wants an account', () => {
      const newSignUp = (address = unique.email(), createdAt = NOON): NewSignUpMail => ({
        id: unique.name() as AccountMailId,
        accountId: undefined,
        kind: 'sign-up',
        address,
        createdAt,
        expiresAt: later(NOON, HOUR),
      });
      /** The state on which it is decided what is sent. */
      const signUpStateFor = async (claimed: ClaimedAccountMail, hash = unique.hash()) => {
        const seen: SignUpMailState[] = [];
        const decide = (state: SignUpMailState) => {
          seen.push(state);
          return 'has-account' as const;
        };
        expect(await mails.addSignUpToken(claimed, hash, decide)).toBe('has-account');
        return present(seen[0]);
      };

      it('is handed out with its address, and ends as any other', async () => {
        const { address, ...mail } = newSignUp();
        await mails.addSignUp({ ...mail, address });
        const claimed = await claimOne(mails);
        expect(claimed).toEqual({ ...mail, email: address, number: 1, failures: 0 });
        await mails.postpone(claimed, MINUTE);
        expect(await claim()).toEqual([]);
        await letPass(MINUTE);
        const again = await claimOne(mails);
        expect(again).toMatchObject({ number: 2, failures: 1 });
        await mails.markSent(again.id);
        expect(await mails.backlog()).toEqual({ queued: 0, oldest: undefined });
      });

      it('is claimed by one caller, in the order in which they came, once no account’s mail is due', async () => {
        const ids: AccountMailId[] = [];
        for (let each = 0; each < 4; each += 1) {
          const mail = newSignUp();
          ids.push(mail.id);
          await mails.addSignUp(mail);
          await letPass(1);
        }
        const { id } = await added(await opened());
        const first = await mails.claim({ limit: 2, lease: MINUTE });
        expect(first.map((mail) => mail.id)).toEqual([id, ids[0]]);
        const others = await atOnce(4, () => mails.claim({ limit: 1, lease: MINUTE }));
        expect(new Set(others.flat().map((mail) => mail.id))).toEqual(new Set(ids.slice(1)));
      });

      it('is decided on with the account that has its address, as that is written in any way', async () => {
        const account = await ports.accounts.open(unique.account(`\u00e9-${unique.email()}`));
        const free = newSignUp();
        const taken = newSignUp(account.email.normalize('NFD'));
        for (const [mail, holder] of [
          [free, undefined],
          [taken, account],
        ] as const) {
          await mails.addSignUp(mail);
          const { createdAt, expiresAt } = mail;
          const claimed = await claimOne(mails);
          expect(await signUpStateFor(claimed)).toMatchObject({ holder, mail: { createdAt, expiresAt } });
          await letPass(MINUTE);
          await claimOne(mails);
          expect((await signUpStateFor(claimed)).mail).toBeUndefined();
          await mails.markSent(mail.id);
        }
      });

      it('has a link that works by each of its tokens, if that was decided', async () => {
        const { address, expiresAt, ...mail } = newSignUp();
        await mails.addSignUp({ ...mail, address, expiresAt });
        const hashes: string[] = [];
        for (let attempt = 0; attempt < 2; attempt += 1) {
          const claimed = await claimOne(mails);
          const [refused, hash] = [unique.hash(), unique.hash()];
          await signUpStateFor(claimed, refused);
          expect(await ports.credentials.findSignUp(refused)).toBeUndefined();
          expect(await mails.addSignUpToken(claimed, hash, () => 'link')).toBe('link');
          hashes.push(hash);
          await letPass(MINUTE);
        }
        for (const hash of hashes)
          expect(await ports.credentials.findSignUp(hash)).toEqual({ email: address, expiresAt, holder: undefined });
      });
    });

    describe('notices', () => {
      const tell = async (account: Account, changes: Partial<NewAccountMail> = {}) => {
        const id = unique.name() as AccountMailId;
        const times = { createdAt: NOON, expiresAt: later(NOON, HOUR) };
        const told = { id, accountId: account.id, kind: 'key', address: account.email, ...times } as const;
        const notice = { ...told, ...changes };
        await ports.credentials.change(account.id, (credentials) => credentials && { credentials, notice });
        return id;
      };
      const shown = async () => (await claim()).map(({ kind, email, about }) => ({ kind, email, about }));

      it('to an address beyond five in an hour are counted by one that is due in an hour, however many race', async () => {
        const account = await opened();
        await atOnce(12, () => tell(account));
        const key = { kind: 'key', email: account.email, about: undefined };
        expect(await shown()).toEqual(Array.from({ length: 5 }, () => key));
        await letPass(HOUR);
        const due = (await claim()).filter(({ kind }) => kind === 'more');
        const [createdAt, expiresAt] = [later(NOON, HOUR), later(NOON, 2 * HOUR)];
        expect(due).toMatchObject([{ about: '7', email: account.email, createdAt, expiresAt }]);
      });

      it('are counted for each account and address alone, and only those of the last hour', async () => {
        const [account, address] = [await opened(), unique.email()];
        for (let count = 0; count < 4; count += 1) await tell(account);
        await tell(account, { createdAt: later(NOON, -HOUR) });
        await tell(account, { address });
        await tell(account, { kind: 'changed' });
        await tell(await opened(), { address: account.email });
        expect(await claim()).toHaveLength(8);
        await tell(account);
        expect(await claim()).toHaveLength(1);
        await tell(account);
        expect(await claim()).toEqual([]);
        await tell(account, { kind: 'closed' });
        expect(await shown()).toMatchObject([{ kind: 'closed' }]);
      });

      it('are not counted by a mail that a worker has claimed, nor by one that has expired', async () => {
        const account = await opened();
        for (let count = 0; count < 6; count += 1) await tell(account);
        await letPass(HOUR);
        expect(await shown()).toMatchObject([{}, {}, {}, {}, {}, { kind: 'more', about: '1' }]);
        await tell(account);
        await letPass(HOUR);
        const waiting = (await shown()).filter(({ kind }) => kind === 'more');
        expect(waiting).toMatchObject([{ about: '1' }, { about: '1' }]);
        const other = await opened();
        for (let count = 0; count < 6; count += 1) await tell(other, { expiresAt: later(NOON, -HOUR) });
        await tell(other);
        await letPass(HOUR);
        const others = (await claim()).filter(({ accountId, kind }) => accountId === other.id && kind === 'more');
        expect(others.map(({ about }) => about)).toEqual(['1', '1']);
      });
    });

    describe('a mail', () => {
      it('is decided on with its account, and with the mails of its kind that wait or whose links work', async () => {
        const account = await opened();
        await added(account, { createdAt: instant(1), expiresAt: NOON });
        await addToken(await claimLink());
        await letPass(MINUTE);
        await mails.markSent((await claimLink()).id);
        const { id } = await added(account);
        const claimed = await claimLink();
        for (let attempt = 0; attempt < 3; attempt += 1) await addToken(claimed);
        await mails.markSent(id);
        await added(account);
        await added(await opened());
        const usable = async (changes: Partial<NewLinkMail> = {}) => (await stateFor(newMail(account, changes))).usable;
        expect(await stateFor(newMail(account))).toEqual({ account, usable: 2 });
        expect(await usable({ kind: 'change' })).toBe(0);
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

      it('is decided on without an account, if there is none, or it is closed, and so is its token', async () => {
        const account = await opened();
        await added(account);
        const claimed = await claimLink();
        await closeAccount(ports, account);
        expect(await tokenStateFor(claimed)).toMatchObject({ account: undefined });
        for (const id of [account.id, INT64_MAX as AccountId])
          expect(await stateFor(newMail({ id }))).toEqual({ account: undefined, usable: 0 });
      });

      it('has a link that works by each of its tokens, if that was decided', async () => {
        const account = await opened();
        for (const kind of LINK_KINDS) {
          const { id, expiresAt } = await added(account, { kind });
          const hashes: string[] = [];
          for (let attempt = 0; attempt < 2; attempt += 1) {
            await letPass(MINUTE);
            const claimed = await claimLink();
            const refused = unique.hash();
            expect(await tokenStateFor(claimed, refused)).toMatchObject({ account, mail: { expiresAt } });
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
        const stale = await claimLink();
        await letPass(MINUTE);
        const current = await claimLink();
        expect((await tokenStateFor(stale)).mail).toBeUndefined();
        expect((await tokenStateFor(current)).mail).toBeDefined();
        await mails.markSent(id);
        expect((await tokenStateFor(current)).mail).toBeUndefined();
      });

      for (const kind of LINK_KINDS)
        it(`of a ${kind} is due at once, of no use, and counts no more once its kind is revoked`, async () => {
          const account = await opened();
          const bystander = await opened();
          const [other] = LINK_KINDS.filter((each) => each !== kind);
          await added(account, { kind: present(other) });
          await mails.postpone(await claimLink(), HOUR);
          await added(account, { kind });
          const tokenHash = await addToken(await claimLink());
          await added(account, { kind });
          await mails.postpone(await claimLink(), HOUR);
          await added(bystander, { kind });
          await mails.postpone(await claimLink(), HOUR);
          await ports.credentials.change(account.id, (state) => state && { credentials: state, revokedLinks: [kind] });
          expect(await ports.credentials.findLink(kind, tokenHash)).toBeUndefined();
          expect(await stateFor(newMail(account, { kind }))).toMatchObject({ usable: 0 });
          const claimed = (await claim()).filter(isLinkMail);
          const revoked = { accountId: account.id, kind };
          expect(claimed).toMatchObject([revoked, revoked]);
          for (const each of claimed) {
            expect(await tokenStateFor(each)).toMatchObject({ mail: { expiresAt: 0 } });
            await mails.markDropped(each);
          }
          await letPass(HOUR);
          const left = (await claim()).filter(isLinkMail);
          expect(left.map(({ accountId }) => accountId).sort()).toEqual([account.id, bystander.id]);
          for (const each of left) expect(await tokenStateFor(each)).not.toMatchObject({ mail: { expiresAt: 0 } });
        });

      it('whose link is revoked while it is sent has no link that works afterwards', async () => {
        for (let round = 0; round < 3; round += 1) {
          const account = await opened();
          await added(account, { kind: 'change' });
          const claimed = await claimLink();
          const tokenHash = unique.hash();
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
