import type { Account } from '../../accounts/account.js';
import type { Ports } from '../../application.js';
import { instant } from '../../kernel/clock.js';
import { addKey, mailLink, NOON, openWithPassword, replaceKey, revokeKey, type Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The guarantees of every `CredentialRepository` that closes accounts. */
export function closing(
  { it, expect }: TestFramework,
  opened: () => Pick<Ports, 'accountMails' | 'accounts' | 'apiKeys' | 'credentials'>,
  unique: Unique,
): void {
  const close = ({ id }: Account, current = 'hash') => opened().credentials.close({ accountId: id, current, at: NOON });
  const openAccount = () => openWithPassword(opened().credentials, unique);

  it('happens only if the password is still the checked one', async () => {
    const ports = opened();
    const account = await openAccount();
    expect(await close(account, 'another')).toBe(false);
    expect(await ports.credentials.findById(account.id)).toEqual({ account, passwordHash: 'hash' });
    expect(await close(account)).toBe(true);
    expect(await close(account)).toBe(false);
  });

  it('makes the account unfindable, and frees its address', async () => {
    const ports = opened();
    const account = await openAccount();
    const reset = unique.link(account);
    await mailLink(ports, 'reset', reset, 3);
    await close(account);
    expect(await ports.credentials.findById(account.id)).toBeUndefined();
    expect(await ports.credentials.findByEmail(account.email)).toBeUndefined();
    expect(await ports.accounts.findById(account.id)).toBeUndefined();
    expect(await ports.accounts.findByEmail(account.email)).toBeUndefined();
    expect((await ports.accounts.list()).map(({ id }) => id)).not.toContain(account.id);
    expect(await ports.credentials.findReset(reset.tokenHash, NOON)).toBeUndefined();
    const anew = await ports.accounts.open(unique.account(account.email));
    expect(anew.id).not.toBe(account.id);
  });

  it('revokes every key; an earlier revocation keeps its instant', async () => {
    const ports = opened();
    const account = await openAccount();
    const [first, second] = [await addKey(ports, unique.key(account)), await addKey(ports, unique.key(account))];
    await revokeKey(ports, first.id, instant(1));
    await close(account);
    expect(await ports.apiKeys.findById(second.id)).toMatchObject({ key: { revokedAt: NOON } });
    expect(await ports.apiKeys.findById(first.id)).toMatchObject({ key: { revokedAt: instant(1) } });
  });

  it('leaves no working key, however many are issued and rotated meanwhile', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const account = await openAccount();
      const old = await Promise.all(Array.from({ length: 8 }, () => addKey(ports, unique.key(account))));
      await Promise.allSettled([
        ...old.slice(0, 4).map(({ id }) => replaceKey(ports, id, unique.key(account))),
        ...Array.from({ length: 6 }, () => addKey(ports, unique.key(account))),
        close(account),
        ...old.slice(4).map(({ id }) => replaceKey(ports, id, unique.key(account))),
        ...Array.from({ length: 6 }, () => addKey(ports, unique.key(account))),
      ]);
      const left = (await ports.apiKeys.list(account.id)).filter(({ key }) => key.revokedAt === undefined);
      expect(left).toEqual([]);
      await expect(addKey(ports, unique.key(account))).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('racing with a reset leaves the account closed or with the new password, never a mixture', async () => {
    const ports = opened();
    for (let round = 0; round < 3; round += 1) {
      const account = await openAccount();
      const reset = unique.link(account);
      await mailLink(ports, 'reset', reset, 3);
      const [isClosed, resetTo] = await Promise.all([
        close(account),
        ports.credentials.resetPassword({ tokenHash: reset.tokenHash, passwordHash: 'new', at: NOON }),
      ]);
      expect(isClosed).toBe(resetTo === undefined);
      expect((await ports.credentials.findById(account.id))?.passwordHash).toBe(isClosed ? undefined : 'new');
    }
  });
}
