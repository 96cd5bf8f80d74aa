import { type Account, type AccountId, closedEmail, type NewAccount } from '../accounts/account.js';
import type {
  CredentialChange,
  CredentialRepository,
  Credentials,
  PasswordReset,
} from '../accounts/credential-repository.js';
import type { Instant } from '../kernel/clock.js';
import type { InMemoryAccountRepository, StoredAccount } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

export class InMemoryCredentialRepository implements CredentialRepository {
  private readonly resets = new Map<string, PasswordReset>();

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

  async addReset(reset: PasswordReset, most: number): Promise<boolean> {
    const usable = [...this.resets.values()].filter(
      ({ accountId, expiresAt }) => accountId === reset.accountId && expiresAt > reset.createdAt,
    );
    if (usable.length >= most || this.accounts.stored(reset.accountId) === undefined) return false;
    this.resets.set(reset.tokenHash, reset);
    return true;
  }

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    return this.resettable(tokenHash, at)?.account;
  }

  async resetPassword({
    tokenHash,
    passwordHash,
    at,
  }: Parameters<CredentialRepository['resetPassword']>[0]): Promise<Account | undefined> {
    const stored = this.resettable(tokenHash, at);
    return stored && this.setPassword(stored, passwordHash);
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const stored = this.unchanged(change);
    if (stored === undefined) return false;
    const { account } = stored;
    const closed = { ...account, email: closedEmail(account.id), credentialVersion: account.credentialVersion + 1 };
    this.accounts.put({ account: closed, passwordHash: undefined, isClosed: true });
    this.keys.revokeAll(account.id, change.at);
    this.takeBackResets(account.id);
    return true;
  }

  async forgetResets(until: Instant): Promise<number> {
    const over = [...this.resets.values()].filter(({ expiresAt }) => expiresAt <= until);
    for (const { tokenHash } of over) this.resets.delete(tokenHash);
    return over.length;
  }

  private unchanged({ accountId, current }: CredentialChange): StoredAccount | undefined {
    const stored = this.accounts.stored(accountId);
    return stored?.passwordHash === current ? stored : undefined;
  }

  private resettable(tokenHash: string, at: Instant): StoredAccount | undefined {
    const reset = this.resets.get(tokenHash);
    return reset !== undefined && reset.expiresAt > at ? this.accounts.stored(reset.accountId) : undefined;
  }

  private setPassword(stored: StoredAccount, passwordHash: string): Account {
    const account = { ...stored.account, credentialVersion: stored.account.credentialVersion + 1 };
    this.accounts.put({ ...stored, account, passwordHash });
    this.takeBackResets(account.id);
    return account;
  }

  private takeBackResets(id: AccountId): void {
    for (const { tokenHash, accountId } of this.resets.values()) if (accountId === id) this.resets.delete(tokenHash);
  }
}

function credentialsOf(stored: StoredAccount | undefined): Credentials | undefined {
  return stored && { account: stored.account, passwordHash: stored.passwordHash };
}
