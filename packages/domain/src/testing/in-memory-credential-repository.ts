import {
  type Account,
  type AccountId,
  closedEmail,
  emailTaken,
  isProven,
  type NewAccount,
} from '../accounts/account.js';
import type { CredentialChange, CredentialRepository, Credentials } from '../accounts/credential-repository.js';
import type { Instant } from '../kernel/clock.js';
import type { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import type { InMemoryAccountRepository, StoredAccount } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import type { InMemoryRequestRecords } from './in-memory-request-records.js';

export class InMemoryCredentialRepository implements CredentialRepository {
  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
    private readonly mails: InMemoryAccountMailQueue,
    private readonly requestRecords: InMemoryRequestRecords,
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

  async findReset(tokenHash: string, at: Instant): Promise<Account | undefined> {
    return this.mails.linked('reset', tokenHash, at)?.account;
  }

  async resetPassword({
    tokenHash,
    passwordHash,
    at,
  }: Parameters<CredentialRepository['resetPassword']>[0]): Promise<Account | undefined> {
    const stored = this.mails.linked('reset', tokenHash, at);
    if (stored === undefined) return undefined;
    if (!isProven(stored.account)) this.keys.revokeAll(stored.account.id, at);
    this.mails.takeBackAll(stored.account.id);
    return this.setPassword(proven(stored, at), passwordHash);
  }

  async proveAddress({
    tokenHash,
    at,
  }: Parameters<CredentialRepository['proveAddress']>[0]): Promise<Account | undefined> {
    const stored = this.mails.linked('proof', tokenHash, at);
    if (stored === undefined) return undefined;
    this.mails.takeBack('proof', stored.account.id);
    this.accounts.put(proven(stored, at));
    return proven(stored, at).account;
  }

  async changeAddress({
    tokenHash,
    at,
    notice,
  }: Parameters<CredentialRepository['changeAddress']>[0]): Promise<Account | undefined> {
    const stored = this.mails.linked('change', tokenHash, at);
    const email = this.mails.addressOf(tokenHash);
    if (stored === undefined || email === undefined) return undefined;
    if (this.accounts.storedAt(email) !== undefined) throw emailTaken();
    const { id: accountId, email: address } = stored.account;
    const account = { ...stored.account, email, provenAt: at };
    this.accounts.put({ ...stored, account });
    this.mails.takeBackAll(accountId);
    this.mails.queue({ ...notice, accountId, kind: 'changed', page: '', address, createdAt: at });
    return account;
  }

  async close(change: CredentialChange & { readonly at: Instant }): Promise<boolean> {
    const stored = this.unchanged(change);
    if (stored === undefined) return false;
    const { account } = stored;
    const closed = { ...account, email: closedEmail(account.id), credentialVersion: account.credentialVersion + 1 };
    this.accounts.put({ account: closed, passwordHash: undefined, isClosed: true });
    this.keys.revokeAll(account.id, change.at);
    this.mails.takeBackAll(account.id);
    this.requestRecords.deleteOfAccount(account.id);
    return true;
  }

  async purgeLinks(until: Instant): Promise<number> {
    return this.mails.purgeLinks(until);
  }

  private unchanged({ accountId, current }: CredentialChange): StoredAccount | undefined {
    const stored = this.accounts.stored(accountId);
    return stored?.passwordHash === current ? stored : undefined;
  }

  private setPassword(stored: StoredAccount, passwordHash: string): Account {
    const account = { ...stored.account, credentialVersion: stored.account.credentialVersion + 1 };
    this.accounts.put({ ...stored, account, passwordHash });
    this.mails.takeBack('reset', account.id);
    this.mails.takeBack('change', account.id);
    return account;
  }
}

function proven(stored: StoredAccount, at: Instant): StoredAccount {
  return { ...stored, account: { ...stored.account, provenAt: stored.account.provenAt ?? at } };
}

function credentialsOf(stored: StoredAccount | undefined): Credentials | undefined {
  return stored && { account: stored.account, passwordHash: stored.passwordHash };
}
