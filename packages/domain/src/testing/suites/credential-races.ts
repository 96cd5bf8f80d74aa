import type { Account } from '../../accounts/account.js';
import type { AccountMailId } from '../../accounts/mails/account-mail.js';
import { decideRenaming } from '../../accounts/keys/api-key.js';
import { decideAddressChange, decideReset, decideSignUp } from '../../accounts/sign-in/credentials.js';
import type { Ports } from '../../application.js';
import {
  addKey,
  atOnce,
  closeAccount,
  mailLink,
  NOON,
  openWithPassword,
  outcomes,
  replaceKey,
  type Unique,
  type UniqueLink,
} from './fixtures.js';
import type { TestFramework } from './framework.js';

/** What every `CredentialRepository` guarantees to calls that race. */
export function credentialRaces(
  { it, expect }: TestFramework,
  opened: () => Pick<Ports, 'accountMails' | 'accounts' | 'apiKeys' | 'credentials'>,
  unique: Unique,
): void {
  const openAccount = () => openWithPassword(opened().credentials, unique);
  const signUp = (email: string, passwordHash: string) =>
    opened().credentials.open(email, (holder) =>
      decideSignUp(holder, { email, scopes: undefined, passwordHash }, NOON),
    );
  const newLink = async (kind: 'reset' | 'change', account: Account, address?: string) => {
    const link = unique.link(account, { address });
    await mailLink(opened(), kind, link);
    return link;
  };
  const reset = ({ tokenHash }: UniqueLink, passwordHash = 'new') =>
    opened().credentials.follow('reset', tokenHash, (link) => decideReset(link, { passwordHash }, NOON));
  const changeAddress = ({ tokenHash }: UniqueLink) => {
    const command = { noticeId: unique.name() as AccountMailId };
    return opened().credentials.follow('change', tokenHash, (link) => decideAddressChange(link, command, NOON));
  };

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
    const found = await opened().credentials.findByEmail(email);
    expect(found).toEqual({ account: values[0], passwordHash: `hash ${winner}` });
  });

  it('to follow one link one is made, and the others find no link', async () => {
    const { credentials } = opened();
    const account = await openAccount();
    const link = await newLink('reset', account);
    const results = await atOnce(20, (index) => reset(link, `reset ${index}`));
    const winner = results.findIndex((each) => each !== undefined);
    expect(results.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await credentials.findById(account.id)).toMatchObject({ passwordHash: `reset ${winner}` });
  });

  it('to close the account and to issue and rotate its keys none leaves a working key', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const account = await openAccount();
      const old = await atOnce(8, () => addKey(ports, unique.key(account)));
      const issue = () => addKey(ports, unique.key(account));
      const rotate = ({ id }: (typeof old)[number]) => replaceKey(ports, id, unique.key(account));
      const [closed] = await Promise.allSettled([
        closeAccount(ports, account),
        ...old.slice(0, 4).map(rotate),
        ...Array.from({ length: 12 }, issue),
        ...old.slice(4).map(rotate),
      ]);
      expect(closed).toMatchObject({ status: 'fulfilled', value: { id: account.id } });
      expect(await ports.apiKeys.listActive(account.id, NOON)).toEqual([]);
    }
  });

  it('to reset an unproven password and to issue and rotate keys by the former none leaves a working key', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const account = await openAccount();
      const { credentialVersion: version } = account;
      const link = await newLink('reset', account);
      const old = await atOnce(8, () => addKey(ports, unique.key(account)));
      const issue = () => addKey(ports, unique.key(account), version);
      const rotate = ({ id }: (typeof old)[number]) => replaceKey(ports, id, unique.key(account), version);
      const [changed] = await Promise.allSettled([
        reset(link),
        ...old.slice(0, 4).map(rotate),
        ...Array.from({ length: 12 }, issue),
        ...old.slice(4).map(rotate),
      ]);
      expect(changed).toMatchObject({ status: 'fulfilled', value: { provenAt: NOON } });
      expect(await ports.apiKeys.listActive(account.id, NOON)).toEqual([]);
      await expect(issue()).rejects.toMatchObject({ code: 'signed_out' });
      for (const { id } of old) {
        const command = { id, accountId: account.id, credentialVersion: version, name: 'other' };
        const renaming = ports.apiKeys.change(id, (state) => decideRenaming(state, command));
        await expect(renaming).rejects.toMatchObject({ code: 'signed_out' });
      }
      expect(await addKey(ports, unique.key(account), version + 1)).toMatchObject({ revokedAt: undefined });
    }
  });

  it('to close an account and to reset its password one is made', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const account = await openAccount();
      const link = await newLink('reset', account);
      const [closed, changed] = await Promise.all([closeAccount(ports, account), reset(link)]);
      expect(closed === undefined).toBe(changed !== undefined);
      const found = await ports.credentials.findById(account.id);
      expect(found?.passwordHash).toBe(closed === undefined ? 'new' : undefined);
    }
  });

  it('to have one address one is made, however many ask for it, sign up with it or close meanwhile', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const email = unique.email();
      const accounts = await atOnce(8, openAccount);
      const links: UniqueLink[] = [];
      for (const account of accounts) links.push(await newLink('change', account, email));
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
      const found = await ports.credentials.findByEmail(email);
      expect(owners.map(({ id }) => id)).toContain(found?.account.id ?? first?.id);
    }
  });
}
