import type { Account, AccountId } from '../../accounts/account.js';
import { type AccountMailId, LINK_KINDS, type LinkKind } from '../../accounts/mails/account-mail.js';
import type { CredentialRepository } from '../../accounts/sign-in/credential-repository.js';
import type { Credentials, CredentialsChange } from '../../accounts/sign-in/credentials.js';
import { DAY, HOUR, instant, later } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { credentialRaces } from './credential-races.js';
import { addKey, atOnce, mailLink, NOON, openWithPassword, revokeKey, Unique, type UniqueLink } from './fixtures.js';
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
    const newLink = async (kind: LinkKind, account: Account, changes: Partial<UniqueLink> = {}) => {
      const link = unique.link(account, changes);
      await mailLink(ports, kind, link);
      return link;
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
        const newAccount = { ...unique.account(), scopes: ['pets:read'] as const, credentialVersion: 1 };
        const account = await credentials.open(newAccount.email, (holder) => {
          expect(holder).toBeUndefined();
          return { account: newAccount, passwordHash: 'hash' };
        });
        expect(account).toEqual({ ...newAccount, id: account.id, provenAt: undefined });
        expect(await credentials.findByEmail(account.email)).toEqual({ account, passwordHash: 'hash' });
        expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
        expect(await ports.accounts.findById(account.id)).toEqual(account);
        expect(await credentials.findByEmail('nobody@example.com')).toBeUndefined();
        expect(await credentials.findById(NOBODY)).toBeUndefined();
      });

      it('is decided on the account that has the address, however that is composed', async () => {
        const account = await ports.accounts.open(unique.account(`\u00e9-${unique.email()}`));
        const opening = credentials.open(account.email.normalize('NFD'), (holder) => {
          expect(holder).toEqual(account);
          throw new Error('refused');
        });
        await expect(opening).rejects.toThrow('refused');
        expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: undefined });
        expect(await credentials.findByEmail(account.email.normalize('NFD'))).toMatchObject({ account });
      });
    });

    describe('a change', () => {
      it('is decided on what is stored, and stored as it was decided', async () => {
        const account = await opened('first');
        const changed = { ...account, email: unique.email(), credentialVersion: 7, provenAt: NOON };
        const result = await credentials.change(account.id, (state) => {
          expect(state).toEqual({ account, passwordHash: 'first' });
          return { credentials: { account: changed, passwordHash: 'second' } };
        });
        expect(result).toEqual(changed);
        expect(await credentials.findByEmail(changed.email)).toEqual({ account: changed, passwordHash: 'second' });
        expect(await credentials.findByEmail(account.email)).toBeUndefined();
      });

      it('is decided on nothing, if there is no such account', async () => {
        const seen: unknown[] = [];
        expect(await credentials.change(NOBODY, (state) => void seen.push(state))).toBeUndefined();
        expect(seen).toEqual([undefined]);
      });

      it('that is not made, or is refused, changes nothing', async () => {
        const account = await opened('hash');
        expect(await credentials.change(account.id, () => undefined)).toBeUndefined();
        const refused = credentials.change(account.id, () => {
          throw new Error('refused');
        });
        await expect(refused).rejects.toThrow('refused');
        expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
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
        const bystander = await addKey(ports, unique.key(await opened()));
        const keys = async () => (await ports.apiKeys.list(account.id)).map(({ key }) => key);
        await change(account, {});
        expect(await keys()).toEqual([working, expired, revoked]);
        await change(account, { keysRevokedAt: NOON });
        expect(await keys()).toEqual([{ ...working, revokedAt: NOON }, expired, revoked]);
        expect((await ports.apiKeys.findById(bystander.id))?.key).toEqual(bystander);
      });

      it('revokes the account’s links of the kinds that were decided on, and no others', async () => {
        const [account, bystander] = [await opened(), await opened()];
        for (const revoked of LINK_KINDS) {
          const links = await Promise.all(
            LINK_KINDS.map(async (kind) => ({ kind, link: await newLink(kind, account) })),
          );
          const theirs = await newLink(revoked, bystander);
          await change(account, { revokedLinks: [revoked] });
          for (const { kind, link } of links) {
            const found = await credentials.findLink(kind, link.tokenHash);
            expect(found !== undefined).toBe(kind !== revoked);
          }
          expect(await credentials.findLink(revoked, theirs.tokenHash)).toBeDefined();
        }
      });

      it('queues the notice that was decided on', async () => {
        const account = await opened();
        const [id, address] = [unique.name() as AccountMailId, unique.email()];
        const notice = {
          id,
          accountId: account.id,
          kind: 'changed',
          page: '',
          createdAt: NOON,
          expiresAt: later(NOON, DAY),
        } as const;
        await change(account, { notice: { ...notice, address } });
        const claimed = await ports.accountMails.claim({ limit: 100, lease: HOUR });
        expect(claimed).toEqual([{ ...notice, email: address, number: 1, failures: 0 }]);
        await ports.accountMails.markSent(id);
      });

      it('that closes the account has it never found again, and frees its former address', async () => {
        const account = await opened();
        const link = await newLink('reset', account);
        await change(account, { account: { ...account, email: `closed-${account.id}@invalid` }, closedAt: NOON });
        expect(await credentials.findById(account.id)).toBeUndefined();
        expect(await credentials.findByEmail(account.email)).toBeUndefined();
        expect(await credentials.findLink('reset', link.tokenHash)).toBeUndefined();
        expect(await ports.accounts.findById(account.id)).toBeUndefined();
        expect(await ports.accounts.findByEmail(account.email)).toBeUndefined();
        expect((await ports.accounts.list()).map(({ id }) => id)).not.toContain(account.id);
        await expect(addKey(ports, unique.key(account))).rejects.toMatchObject({ code: 'not_found' });
        expect((await ports.accounts.open(unique.account(account.email))).id).not.toBe(account.id);
      });
    });

    describe('a link', () => {
      it('is found by its own token and kind, with its account and the address that it was mailed to', async () => {
        const account = await opened('hash');
        const taken = await ports.accounts.open(unique.account(`\u00e9-${unique.email()}`));
        for (const kind of LINK_KINDS) {
          for (const [address, isAddressTaken] of [
            [undefined, false],
            [unique.email(), false],
            [taken.email, true],
            [taken.email.normalize('NFD'), true],
          ] as const) {
            const { tokenHash, expiresAt } = await newLink(kind, account, { address });
            const expected = { credentials: { account, passwordHash: 'hash' }, expiresAt, address, isAddressTaken };
            expect(await credentials.findLink(kind, tokenHash)).toEqual(expected);
            const seen: unknown[] = [];
            expect(await credentials.follow(kind, tokenHash, (link) => void seen.push(link))).toBeUndefined();
            expect(seen).toEqual([expected]);
            for (const other of LINK_KINDS.filter((each) => each !== kind)) {
              expect(await credentials.findLink(other, tokenHash)).toBeUndefined();
              await credentials.follow(other, tokenHash, (link) => {
                expect(link).toBeUndefined();
                return undefined;
              });
            }
          }
        }
        expect(await credentials.findLink('reset', unique.hash())).toBeUndefined();
      });

      it('changes its account as was decided, and is kept if that is refused', async () => {
        const account = await opened('hash');
        const { tokenHash } = await newLink('reset', account);
        const refused = credentials.follow('reset', tokenHash, () => {
          throw new Error('refused');
        });
        await expect(refused).rejects.toThrow('refused');
        const changed = { ...account, provenAt: NOON };
        const followed = credentials.follow('reset', tokenHash, () => ({
          credentials: { account: changed, passwordHash: 'next' },
          revokedLinks: ['reset'],
        }));
        expect(await followed).toEqual(changed);
        expect(await credentials.findById(account.id)).toEqual({ account: changed, passwordHash: 'next' });
        expect(await credentials.findLink('reset', tokenHash)).toBeUndefined();
      });

      it('is purged once it has expired', async () => {
        const account = await opened();
        const early = later(NOON, -500 * HOUR);
        await newLink('proof', account, { createdAt: instant(1), expiresAt: early });
        expect(await credentials.purgeLinks(later(early, -1))).toBe(0);
        expect(await credentials.purgeLinks(early)).toBe(1);
        expect(await credentials.purgeLinks(early)).toBe(0);
      });
    });

    describe('of concurrent decisions', () => {
      credentialRaces(framework, () => ports, unique);
    });
  });
}
