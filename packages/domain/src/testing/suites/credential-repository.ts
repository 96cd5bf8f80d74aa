import { type Account, type AccountId, closedEmail } from '../../accounts/account.js';
import { type AccountMailId, LINK_KINDS, type LinkKind } from '../../accounts/mails/account-mail.js';
import type { CredentialRepository } from '../../accounts/sign-in/credential-repository.js';
import type { ApiKey } from '../../accounts/keys/api-key.js';
import {
  type Credentials,
  type CredentialsChange,
  decideAddressChange,
  decideProvenSignUp,
  decideReset,
  decideSignUp,
  type MailedLink,
  type SignUpLink,
} from '../../accounts/sign-in/credentials.js';
import { DAY, HOUR, instant, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  addKey,
  atOnce,
  claimOne,
  closeAccount,
  expectDecidedOnce,
  mailLink,
  NOON,
  openBefore,
  openWithPassword,
  outcomes,
  present,
  race,
  replaceKey,
  revokeKey,
  stateOf,
  Unique,
  type UniqueLink,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accountMails' | 'accounts' | 'apiKeys' | 'credentials';

const NOBODY = INT64_MAX as AccountId;

/** The guarantees of every `CredentialRepository`. */
export function credentialRepositorySuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, expect } = framework;
  describe(`a credential repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let credentials: CredentialRepository;
    openBefore(framework, open, (adapters) => {
      ports = adapters.ports;
      credentials = ports.credentials;
    });

    const opened = (hash?: string) => openWithPassword(credentials, unique, hash);
    const newLink = async (kind: LinkKind, account: Account, changes: Partial<UniqueLink> = {}) => {
      const link = unique.link(account, changes);
      await mailLink(ports, kind, link);
      return link;
    };
    const signUp = (email: string, passwordHash: string) =>
      credentials.open(email, (holder) => decideSignUp(holder, { email, scopes: undefined, passwordHash }, NOON));
    const reset = ({ tokenHash }: UniqueLink, passwordHash = 'new') =>
      credentials.useLink('reset', tokenHash, (link) =>
        decideReset(link, { passwordHash, noticeId: unique.name() as AccountMailId }, NOON),
      );
    const changeAddress = ({ tokenHash }: UniqueLink) => {
      const command = { noticeId: unique.name() as AccountMailId, confirmer: { current: 'hash' } };
      return credentials.useLink('change', tokenHash, (link) => decideAddressChange(link, command, NOON));
    };
    const change = async ({ id }: Account, changed: Omit<CredentialsChange, 'credentials'> & Partial<Credentials>) => {
      const { account, passwordHash, ...rest } = changed;
      return credentials.change(
        id,
        (state) =>
          state && {
            credentials: { account: account ?? state.account, passwordHash: passwordHash ?? state.passwordHash },
            ...rest,
          },
      );
    };

    describe('opening', () => {
      it('stores the account that was decided on, which is found with its password’s hash by address and by id', async () => {
        const newAccount = {
          ...unique.account(),
          scopes: ['pets:read'] as const,
          credentialVersion: 1,
          provenAt: NOON,
        };
        const account = await credentials.open(newAccount.email, (holder) => {
          expect(holder).toBeUndefined();
          return { account: newAccount, passwordHash: 'hash' };
        });
        expect(account).toEqual({ ...newAccount, id: account.id });
        expect(await credentials.findByEmail(account.email)).toEqual({ account, passwordHash: 'hash' });
        expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
        expect(await ports.accounts.findById(account.id)).toEqual(account);
        expect(await credentials.findByEmail('nobody@example.com')).toBeUndefined();
        expect(await credentials.findById(NOBODY)).toBeUndefined();
      });

      it('is decided on the account that has the address, however that is composed', async () => {
        const account = await ports.accounts.open(unique.account(`\u00e9-${unique.email()}`));
        const email = account.email.normalize('NFD');
        expect(await stateOf((refuse) => credentials.open(email, refuse))).toEqual(account);
        expect(await credentials.findByEmail(email)).toEqual({ account, passwordHash: undefined });
      });
    });

    /** Mails a link with which an account of that address begins. */
    const newSignUp = async (address = unique.email(), expiresAt = later(NOON, HOUR)) => {
      const tokenHash = unique.hash();
      const id = unique.name() as AccountMailId;
      const mail = { id, accountId: undefined, kind: 'sign-up', address, createdAt: NOON, expiresAt } as const;
      await ports.accountMails.addSignUp(mail);
      await ports.accountMails.addSignUpToken(await claimOne(ports.accountMails), tokenHash, () => 'link');
      await ports.accountMails.markSent(id);
      return { tokenHash, address, expiresAt };
    };
    const complete = (tokenHash: string, passwordHash = 'hash') =>
      credentials.completeSignUp(tokenHash, (link) =>
        decideProvenSignUp(link, { scopes: undefined, passwordHash }, NOON),
      );

    describe('a link with which an account begins', () => {
      it('is decided on with its address and the account that has it, and is kept if that is refused', async () => {
        const holder = await ports.accounts.open(unique.account(`\u00e9-${unique.email()}`));
        for (const [email, expected] of [
          [unique.email(), undefined],
          [holder.email.normalize('NFD'), holder],
        ] as const) {
          const { tokenHash, expiresAt } = await newSignUp(email);
          const link = { email, expiresAt, holder: expected };
          expect(await credentials.findSignUp(tokenHash)).toEqual(link);
          const seen = await stateOf<SignUpLink | undefined>((refuse) => credentials.completeSignUp(tokenHash, refuse));
          expect(seen).toEqual(link);
          expect(await credentials.completeSignUp(tokenHash, () => undefined)).toBeUndefined();
          expect(await credentials.findSignUp(tokenHash)).toEqual(link);
        }
        expect(await credentials.findSignUp(unique.hash())).toBeUndefined();
      });

      it('opens the account that was decided on, and ends the address’s other links alone', async () => {
        const link = await newSignUp();
        const other = await newSignUp(link.address);
        const bystander = await newSignUp();
        const account = await complete(link.tokenHash);
        expect(account).toMatchObject({ email: link.address, provenAt: NOON });
        expect(await credentials.findByEmail(link.address)).toEqual({ account, passwordHash: 'hash' });
        for (const { tokenHash } of [link, other]) expect(await credentials.findSignUp(tokenHash)).toBeUndefined();
        expect(await credentials.findSignUp(bystander.tokenHash)).toBeDefined();
      });

      it('opens one account, however many links for its address are followed at once', async () => {
        for (let round = 0; round < 2; round += 1) {
          const { tokenHash, address } = await newSignUp();
          const hashes = [tokenHash, (await newSignUp(address)).tokenHash, (await newSignUp(address)).tokenHash];
          const { values, reasons } = await race(9, (index) => complete(hashes[index % 3] ?? '', `hash ${index}`));
          expect(reasons).toEqual([]);
          expect(values.filter((each) => each !== undefined)).toHaveLength(1);
        }
      });
    });

    describe('a change', () => {
      it('is decided on what is stored, and stored as it was decided', async () => {
        const account = await opened('first');
        const changed = { ...account, email: `${unique.email()}.`, credentialVersion: 7, provenAt: NOON };
        const result = await credentials.change(account.id, (state) => {
          expect(state).toEqual({ account, passwordHash: 'first' });
          return { credentials: { account: changed, passwordHash: 'second' } };
        });
        expect(result).toEqual(changed);
        for (const email of [changed.email, changed.email.slice(0, -1)])
          expect(await credentials.findByEmail(email)).toEqual({ account: changed, passwordHash: 'second' });
        expect(await credentials.findByEmail(account.email)).toBeUndefined();
      });

      it('is decided on nothing, if there is no such account', async () => {
        expect(await stateOf((refuse) => credentials.change(NOBODY, refuse))).toBeUndefined();
        expect(await credentials.change(NOBODY, () => undefined)).toBeUndefined();
      });

      it('that is not made, or is refused, changes nothing', async () => {
        const account = await opened('hash');
        const unchanged = { account, passwordHash: 'hash' };
        expect(await credentials.change(account.id, () => undefined)).toBeUndefined();
        expect(await stateOf((refuse) => credentials.change(account.id, refuse))).toEqual(unchanged);
        expect(await credentials.findById(account.id)).toEqual(unchanged);
      });

      it('is decided on what the others have changed, however many race', async () => {
        const account = await opened('');
        await atOnce(10, () =>
          credentials.change(
            account.id,
            (state) => state && { credentials: { ...state, passwordHash: `${state.passwordHash ?? ''}x` } },
          ),
        );
        expect((await credentials.findById(account.id))?.passwordHash).toBe('x'.repeat(10));
      });

      it('revokes the account’s keys that have not ended by then, if that was decided', async () => {
        const account = await opened();
        const working = await addKey(ports, unique.key(account));
        const expired = await addKey(ports, unique.key(account, { expiresAt: NOON }));
        const gone = await addKey(ports, unique.key(account));
        const revoked = await revokeKey(ports, gone.id, instant(1));
        const { id } = await addKey(ports, unique.key(account));
        const disabled = await ports.apiKeys.change(id, ({ key }) => ({ ...present(key), disabledAt: NOON }));
        const bystander = await addKey(ports, unique.key(await opened()));
        const keys = async () => (await ports.apiKeys.list(account.id)).map(({ key }) => key);
        await change(account, {});
        expect(await keys()).toEqual([working, expired, revoked, disabled]);
        await change(account, { keysRevokedAt: NOON });
        const ended = { revokedAt: NOON };
        expect(await keys()).toEqual([{ ...working, ...ended }, expired, revoked, { ...disabled, ...ended }]);
        expect((await ports.apiKeys.findById(bystander.id))?.key).toEqual(bystander);
      });

      it('revokes the account’s links of the kinds that were decided on, and no others', async () => {
        const [account, bystander] = [await opened(), await opened()];
        for (const revoked of LINK_KINDS) {
          const links = new Map<LinkKind, UniqueLink>();
          for (const kind of LINK_KINDS) links.set(kind, await newLink(kind, account));
          const theirs = await newLink(revoked, bystander);
          await change(account, { revokedLinks: [revoked] });
          for (const [kind, { tokenHash }] of links)
            expect((await credentials.findLink(kind, tokenHash)) !== undefined).toBe(kind !== revoked);
          expect(await credentials.findLink(revoked, theirs.tokenHash)).toBeDefined();
        }
      });

      it('that closes the account queues its notice, whatever else that ends', async () => {
        const account = await opened();
        const [id, email] = [unique.name() as AccountMailId, account.email];
        const times = { createdAt: NOON, expiresAt: later(NOON, DAY) };
        const notice = { id, accountId: account.id, kind: 'closed', ...times } as const;
        await change(account, {
          account: { ...account, email: closedEmail(account.id) },
          revokedLinks: LINK_KINDS,
          keysRevokedAt: NOON,
          notice: { ...notice, address: email },
          closedAt: NOON,
        });
        expect(await claimOne(ports.accountMails)).toEqual({ ...notice, email, number: 1, failures: 0 });
        await ports.accountMails.markSent(id);
      });

      it('that closes the account has it never found again, by address, id or link', async () => {
        const account = await opened();
        const link = await newLink('reset', account);
        await closeAccount(ports, account);
        expect(await credentials.findById(account.id)).toBeUndefined();
        for (const email of [account.email, closedEmail(account.id)])
          expect(await credentials.findByEmail(email)).toBeUndefined();
        expect(await credentials.findLink('reset', link.tokenHash)).toBeUndefined();
        expect(await stateOf((refuse) => credentials.change(account.id, refuse))).toBeUndefined();
        await expect(addKey(ports, unique.key(account))).rejects.toMatchObject({ code: 'not_found' });
      });
    });

    it('makes each decision once', async () => {
      const { tokenHash } = await newLink('reset', await opened());
      const { tokenHash: signUpHash } = await newSignUp();
      const { id } = await opened();
      const open = () => ({
        account: { ...unique.account(), credentialVersion: 1, provenAt: undefined },
        passwordHash: 'hash',
      });
      const keep = (found: Credentials | undefined) => found && { credentials: found };
      const follow = (link: MailedLink | undefined) => keep(link?.credentials);
      await expectDecidedOnce(framework, {
        open: (counted) => credentials.open(unique.email(), counted(open)),
        completeSignUp: (counted) => credentials.completeSignUp(signUpHash, counted(open)),
        change: (counted) => credentials.change(id, counted(keep)),
        useLink: (counted) => credentials.useLink('reset', tokenHash, counted(follow)),
      });
    });

    describe('a link', () => {
      /** The link on which a refused decision was made. */
      const followed = (kind: LinkKind, tokenHash: string) =>
        stateOf<MailedLink | undefined>((refuse) => credentials.useLink(kind, tokenHash, refuse));

      it('is found by its own token and kind, with its account and the address that it was mailed to', async () => {
        const account = await opened('hash');
        const taken = `\u00e9-${unique.email()}`;
        await ports.accounts.open(unique.account(taken));
        for (const [kind, address, isAddressTaken] of [
          ['reset', undefined, false],
          ['change', unique.email(), false],
          ['change', taken.normalize('NFD'), true],
        ] as const) {
          const { tokenHash, expiresAt } = await newLink(kind, account, { address });
          const expected = { credentials: { account, passwordHash: 'hash' }, expiresAt, address, isAddressTaken };
          for (const asked of LINK_KINDS) {
            const found = asked === kind ? expected : undefined;
            expect(await credentials.findLink(asked, tokenHash)).toEqual(found);
            expect(await followed(asked, tokenHash)).toEqual(found);
          }
        }
        expect(await credentials.findLink('reset', unique.hash())).toBeUndefined();
      });

      it('changes its account as was decided, and is kept if that is refused', async () => {
        const account = await opened('hash');
        const { tokenHash } = await newLink('reset', account);
        expect(await followed('reset', tokenHash)).toBeDefined();
        const changed = { account: { ...account, provenAt: NOON }, passwordHash: 'next' };
        const decide = () => ({ credentials: changed, revokedLinks: ['reset'] as const });
        expect(await credentials.useLink('reset', tokenHash, decide)).toEqual(changed.account);
        expect(await credentials.findById(account.id)).toEqual(changed);
        expect(await credentials.findLink('reset', tokenHash)).toBeUndefined();
      });

      it('stays if the change doesn’t revoke its kind', async () => {
        const { tokenHash } = await newLink('change', await opened());
        const keep = (link: MailedLink | undefined) => link && { credentials: link.credentials, revokedLinks: [] };
        expect(await credentials.useLink('change', tokenHash, keep)).toBeDefined();
        expect(await credentials.findLink('change', tokenHash)).toBeDefined();
      });

      it('is found though it has expired: a decision judges that', async () => {
        const { tokenHash } = await newLink('reset', await opened(), { expiresAt: NOON });
        expect(await followed('reset', tokenHash)).toMatchObject({ expiresAt: NOON });
      });

      it('of any kind is purged once it has expired', async () => {
        const account = await opened();
        const early = later(NOON, -500 * HOUR);
        for (const kind of LINK_KINDS) await newLink(kind, account, { createdAt: instant(1), expiresAt: early });
        const { tokenHash } = await newSignUp(unique.email(), early);
        expect(await credentials.purgeLinks(later(early, -1))).toBe(0);
        expect(await credentials.purgeLinks(early)).toBe(LINK_KINDS.length + 1);
        expect(await credentials.findSignUp(tokenHash)).toBeUndefined();
      });
    });

    describe('of concurrent decisions', () => {
      it('to sign up with one address one opens the account, with its password', async () => {
        const email = `\u00e9-${unique.email()}`;
        const written = [email, email.normalize('NFD')];
        const settled = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) => signUp(written[index % 2] ?? email, `hash ${index}`)),
        );
        const winner = settled.findIndex(({ status }) => status === 'fulfilled');
        const { values, reasons } = outcomes(settled);
        expect(values).toHaveLength(1);
        for (const reason of reasons) expect(reason).toMatchObject({ code: 'email_taken' });
        const found = await credentials.findByEmail(email);
        expect(found).toEqual({ account: values[0], passwordHash: `hash ${winner}` });
      });

      it('to follow one link one is made, and the others find no link', async () => {
        const account = await opened();
        const link = await newLink('reset', account);
        const results = await atOnce(20, (index) => reset(link, `reset ${index}`));
        const winner = results.findIndex((each) => each !== undefined);
        expect(results.filter((each) => each !== undefined)).toHaveLength(1);
        expect(await credentials.findById(account.id)).toMatchObject({ passwordHash: `reset ${winner}` });
      });

      it('to reset an unproven password and to issue and rotate keys by the former none leaves a working key', async () => {
        const account = await opened();
        const { credentialVersion: version } = account;
        const link = await newLink('reset', account);
        const old = await atOnce(8, () => addKey(ports, unique.key(account)));
        const issue = (asked: number) => addKey(ports, unique.key(account), asked);
        const rotate = ({ id }: ApiKey) => replaceKey(ports, id, unique.key(account), version);
        const [changed] = await Promise.allSettled([
          reset(link),
          ...old.slice(0, 4).map(rotate),
          ...Array.from({ length: 8 }, () => issue(version)),
          ...old.slice(4).map(rotate),
        ]);
        expect(changed).toMatchObject({ status: 'fulfilled', value: { provenAt: NOON } });
        expect(await ports.apiKeys.listActive(account.id, NOON)).toEqual([]);
        await expect(issue(version)).rejects.toMatchObject({ code: 'signed_out' });
        expect(await issue(version + 1)).toMatchObject({ revokedAt: undefined });
      });

      it('to have one address one is made, however many ask for it, sign up with it or close meanwhile', async () => {
        const email = unique.email();
        const accounts = await atOnce(5, () => opened());
        const links: UniqueLink[] = [];
        for (const account of accounts) links.push(await newLink('change', account, { address: email }));
        const [first] = accounts;
        const settled = await Promise.allSettled([
          ...links.map((link) => changeAddress(link)),
          signUp(email, 'hash'),
          first && closeAccount(ports, first).then(() => undefined),
        ]);
        const { values, reasons } = outcomes(settled);
        const owners = values.filter((each) => each !== undefined);
        // The account that had the address may have been closed, so that another one has it.
        expect(owners.length).toBeGreaterThanOrEqual(1);
        expect(owners.length).toBeLessThanOrEqual(owners.some(({ id }) => id === first?.id) ? 2 : 1);
        for (const reason of reasons) expect(reason).toMatchObject({ code: 'email_taken' });
        const found = await credentials.findByEmail(email);
        expect(owners.map(({ id }) => id)).toContain(found?.account.id ?? first?.id);
      });
    });
  });
}
