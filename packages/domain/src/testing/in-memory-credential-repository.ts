import { type Account, type AccountId, closedEmail, isProven, type NewAccount } from '../accounts/account.js';
import type {
  CredentialChange,
  CredentialRepository,
  Credentials,
  MailedLink,
} from '../accounts/credential-repository.js';
import type { Instant } from '../kernel/clock.js';
import type { InMemoryAccountRepository, StoredAccount } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

export class InMemoryCredentialRepository implements CredentialRepository {
  private readonly resets = new Map<string, MailedLink>();
  private readonly proofs = new Map<string, MailedLink>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
  ) {}

  async open(account: NewAccount, passwordHash: string): Promise<Account | undefined> {
    return this.accounts.storedAt(account.email) === undefined ? this.accounts.add(account, passwordHash) : undefined;
  }

  async findByEmail(email: string): Promise<Credentials | undefined> {
    return credentialsOf(this.accounts.storedAt(email));
  }

  async findById(id: AccountId): Promise<Credentials | undefined> {
    return credentialsOf(this.accounts.stored(id));
  }

  async changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined> {
    const stored = this.unchanged(change);
    return stored && this.setPassword(stored, change.next);
  }

  async rehash(change: CredentialChange & { readonly next: string }): Promise<void> {
    const stored = this.unchanged(change);
    if (stored !== undefined) this.accounts.put({ ...stored, passwordHash: change.next });
  }

  async addReset(reset: MailedLink, most: number): Promise<boolean> {
    return this.addLink(this.resets, reset, most);
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    return this.linked(this.resets, tokenHash, at)?.account;
  }

  async resetPassword({
    tokenHash,
    passwordHash,
    at,
  }: Parameters<CredentialRepository['resetPassword']>[0]): Promise<Account | undefined> {
    const stored = this.linked(this.resets, tokenHash, at);
    if (stored === undefined) return undefined;
    if (!isProven(stored.account)) this.keys.revokeAll(stored.account.id, at);
    takeBack(this.proofs, stored.account.id);
    return this.setPassword(proven(stored, at), passwordHash);
  }

  async addProof(proof: MailedLink, most: number): Promise<boolean> {
    return this.addLink(this.proofs, proof, most);
  }

  async proveAddress({
    tokenHash,
    at,
  }: Parameters<CredentialRepository['proveAddress']>[0]): Promise<Account | undefined> {
    const stored = this.linked(this.proofs, tokenHash, at);
    if (stored === undefined) return undefined;
    takeBack(this.proofs, stored.account.id);
    this.accounts.put(proven(stored, at));
    return proven(stored, at).account;
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const stored = this.unchanged(change);
    if (stored === undefined) return false;
    const { account } = stored;
    const closed = { ...account, email: closedEmail(account.id), credentialVersion: account.credentialVersion + 1 };
    this.accounts.put({ account: closed, passwordHash: undefined, isClosed: true });
    this.keys.revokeAll(account.id, change.at);
    takeBack(this.resets, account.id);
    takeBack(this.proofs, account.id);
    return true;
  }

  async forgetResets(until: Instant): Promise<number> {
    let forgotten = 0;
    for (const links of [this.resets, this.proofs]) {
      for (const { tokenHash, expiresAt } of links.values()) {
        if (expiresAt <= until && links.delete(tokenHash)) forgotten += 1;
      }
    }
    return forgotten;
  }

  private unchanged({ accountId, current }: CredentialChange): StoredAccount | undefined {
    const stored = this.accounts.stored(accountId);
    return stored?.passwordHash === current ? stored : undefined;
  }

  private addLink(links: Map<string, MailedLink>, link: MailedLink, most: number): boolean {
    const usable = [...links.values()].filter(
      ({ accountId, expiresAt }) => accountId === link.accountId && expiresAt > link.createdAt,
    );
    if (usable.length >= most || this.accounts.stored(link.accountId) === undefined) return false;
    links.set(link.tokenHash, link);
    return true;
  }

  private linked(links: ReadonlyMap<string, MailedLink>, tokenHash: string, at: Instant): StoredAccount | undefined {
    const link = links.get(tokenHash);
    return link !== undefined && link.expiresAt > at ? this.accounts.stored(link.accountId) : undefined;
  }

  private setPassword(stored: StoredAccount, passwordHash: string): Account {
    const account = { ...stored.account, credentialVersion: stored.account.credentialVersion + 1 };
    this.accounts.put({ ...stored, account, passwordHash });
    takeBack(this.resets, account.id);
    return account;
  }
}

function takeBack(links: Map<string, MailedLink>, id: AccountId): void {
  for (const { tokenHash, accountId } of links.values()) if (accountId === id) links.delete(tokenHash);
}

function proven(stored: StoredAccount, at: Instant): StoredAccount {
  return { ...stored, account: { ...stored.account, provenAt: stored.account.provenAt ?? at } };
}

function credentialsOf(stored: StoredAccount | undefined): Credentials | undefined {
  return stored && { account: stored.account, passwordHash: stored.passwordHash };
}
