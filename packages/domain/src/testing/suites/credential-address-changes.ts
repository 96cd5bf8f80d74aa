import type { Account } from '../../accounts/account.js';
import { type AccountMailId, LINK_KINDS } from '../../accounts/account-mail.js';
import type { Ports } from '../../application.js';
import { DAY, HOUR, later } from '../../kernel/clock.js';
import {
  addKey,
  atOnce,
  type MailedLink,
  mailLink,
  NOON,
  openWithPassword,
  outcomes,
  type Unique,
} from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The guarantees of every `CredentialRepository` that changes addresses. */
export function addressChanges(
  { it, expect }: TestFramework,
  opened: () => Pick<Ports, 'accountMails' | 'accounts' | 'apiKeys' | 'credentials'>,
  unique: Unique,
): void {
  const openAccount = () => openWithPassword(opened().credentials, unique);
  const newLink = async (account: Account, address = unique.email()) => {
    const link = { ...unique.link(account), address };
    await mailLink(opened(), 'change', link, 100);
    return link;
  };
  const change = ({ tokenHash }: MailedLink, at = NOON) => {
    const notice = { id: unique.name() as AccountMailId, expiresAt: later(NOON, DAY) };
    return opened().credentials.changeAddress({ tokenHash, at, notice });
  };

  it('happens once, however many use the link, and proves the address; password and keys stay', async () => {
    const { credentials, accounts, apiKeys } = opened();
    const account = await openAccount();
    const key = await addKey({ apiKeys }, unique.key(account));
    const link = await newLink(account);
    const results = await atOnce(20, () => change(link));
    const changed = { ...account, email: link.address, provenAt: NOON };
    expect(results.filter((each) => each !== undefined)).toEqual([changed]);
    expect(await credentials.findByEmail(link.address)).toEqual({ account: changed, passwordHash: 'hash' });
    expect(await credentials.findByEmail(account.email)).toBeUndefined();
    expect(await accounts.findByEmail(link.address)).toEqual(changed);
    expect(await apiKeys.findById(key.id)).toMatchObject({ account: changed, key: { revokedAt: undefined } });
    expect(await accounts.open(unique.account(account.email))).not.toMatchObject({ id: account.id });
  });

  it('queues one mail to the former address, without a link', async () => {
    const { accountMails } = opened();
    const account = await openAccount();
    await change(await newLink(account));
    const claimed = await accountMails.claim({ limit: 100, lease: HOUR });
    const own = claimed.filter(({ accountId }) => accountId === account.id);
    expect(own).toMatchObject([
      { kind: 'changed', email: account.email, createdAt: NOON, expiresAt: later(NOON, DAY) },
    ]);
    for (const each of claimed) {
      expect(await accountMails.addToken(each, unique.hash(), NOON)).toBe(false);
      await accountMails.markSent(each.id);
    }
  });

  it('takes back every link of the account, also those that were mailed to the former address', async () => {
    const ports = opened();
    const account = await openAccount();
    const links = LINK_KINDS.map((kind) => ({ kind, link: { ...unique.link(account), address: unique.email() } }));
    for (const { kind, link } of links) await mailLink(ports, kind, link);
    await change(await newLink(account));
    const [reset, proof, other] = links.map(({ link }) => link.tokenHash);
    expect(await ports.credentials.findReset(reset ?? '', NOON)).toBeUndefined();
    expect(await ports.credentials.proveAddress({ tokenHash: proof ?? '', at: NOON })).toBeUndefined();
    expect(await change({ ...unique.link(account), tokenHash: other ?? '' })).toBeUndefined();
  });

  it('never happens by a link that has expired, is of another kind, or was taken back', async () => {
    const ports = opened();
    const account = await openAccount();
    const expired = await newLink(account);
    expect(await change(expired, expired.expiresAt)).toBeUndefined();
    for (const kind of ['reset', 'proof'] as const) {
      const link = unique.link(account);
      await mailLink(ports, kind, link);
      expect(await change(link)).toBeUndefined();
    }
    const taken = await newLink(account);
    await ports.credentials.changePassword({ accountId: account.id, current: 'hash', next: 'next' });
    expect(await change(taken)).toBeUndefined();
    const closed = await newLink(account);
    await ports.credentials.close({ accountId: account.id, current: 'next', at: NOON });
    expect(await change(closed)).toBeUndefined();
    const unknown = unique.link(account);
    expect(await change(unknown)).toBeUndefined();
  });

  it('is refused if the address has an account by now, changes nothing, and works once it is free', async () => {
    const { credentials, accountMails } = opened();
    const account = await openAccount();
    const link = await newLink(account);
    const owner = await credentials.open(unique.account(link.address), 'owner');
    if (owner === undefined) throw new Error('the account was not opened');
    await expect(change(link)).rejects.toMatchObject({ code: 'email_taken' });
    expect(await credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
    expect(await accountMails.claim({ limit: 100, lease: HOUR })).toEqual([]);
    await credentials.close({ accountId: owner.id, current: 'owner', at: NOON });
    expect(await change(link)).toMatchObject({ id: account.id, email: link.address });
  });

  it('gives an address to one account, however many ask for it, sign up with it or close meanwhile', async () => {
    const { credentials } = opened();
    for (let round = 0; round < 3; round += 1) {
      const email = unique.email();
      const accounts = await Promise.all(Array.from({ length: 8 }, openAccount));
      const links: MailedLink[] = [];
      for (const account of accounts) links.push(await newLink(account, email));
      const [first] = accounts;
      const settled = await Promise.allSettled([
        ...links.map((link) => change(link)),
        credentials.open(unique.account(email), 'hash'),
        first && credentials.close({ accountId: first.id, current: 'hash', at: NOON }).then(() => undefined),
      ]);
      const { values, reasons } = outcomes(settled);
      const owners = values.filter((each) => each !== undefined);
      // The account that had the address may have been closed, so that another one has it.
      expect(owners.length).toBeGreaterThanOrEqual(1);
      expect(owners.length).toBeLessThanOrEqual(owners.some(({ id }) => id === first?.id) ? 2 : 1);
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'email_taken' });
      const found = await credentials.findByEmail(email);
      expect(owners.map(({ id }) => id)).toContain(found?.account.id ?? first?.id);
    }
  });
}
