import type { Account, AccountId } from '../accounts/account.js';
import type { LinkKind } from '../accounts/mails/account-mail.js';
import type { CredentialRepository } from '../accounts/sign-in/credential-repository.js';
import type {
  Credentials,
  CredentialsChange,
  MailedLink,
  NewCredentials,
  SignUpLink,
} from '../accounts/sign-in/credentials.js';
import type { Instant } from '../kernel/clock.js';
import type { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import type { InMemoryAccountRepository, StoredAccount } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import type { InMemoryRequestRecords } from './in-memory-request-records.js';
import type { InMemoryWebhookRepository } from './in-memory-webhook-repository.js';

export class InMemoryCredentialRepository implements CredentialRepository {
  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
    private readonly mails: InMemoryAccountMailQueue,
    private readonly requestRecords: InMemoryRequestRecords,
    private readonly webhooks: InMemoryWebhookRepository,
  ) {}

  async open(email: string, decide: (holder: Account | undefined) => NewCredentials): Promise<Account> {
    const { account, passwordHash } = decide(this.accounts.storedAt(email)?.account);
    return this.accounts.add(account, passwordHash);
  }

  async findSignUp(tokenHash: string): Promise<SignUpLink | undefined> {
    return this.mails.signUp(tokenHash);
  }

  async completeSignUp(
    tokenHash: string,
    decide: (link: SignUpLink | undefined) => NewCredentials | undefined,
  ): Promise<Account | undefined> {
    const opened = decide(this.mails.signUp(tokenHash));
    if (opened === undefined) return undefined;
    this.mails.endSignUps(opened.account.email);
    return this.accounts.add(opened.account, opened.passwordHash);
  }

  async findByEmail(email: string): Promise<Credentials | undefined> {
    return credentialsOf(this.accounts.storedAt(email));
  }

  async findById(id: AccountId): Promise<Credentials | undefined> {
    return credentialsOf(this.accounts.stored(id));
  }

  async findLink(kind: LinkKind, tokenHash: string): Promise<MailedLink | undefined> {
    return this.mails.link(kind, tokenHash);
  }

  async change(
    id: AccountId,
    decide: (credentials: Credentials | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined> {
    return this.store(decide(credentialsOf(this.accounts.stored(id))));
  }

  async useLink(
    kind: LinkKind,
    tokenHash: string,
    decide: (link: MailedLink | undefined) => CredentialsChange | undefined,
  ): Promise<Account | undefined> {
    return this.store(decide(this.mails.link(kind, tokenHash)));
  }

  async purgeLinks(until: Instant): Promise<number> {
    return this.mails.purgeLinks(until);
  }

  private store(change: CredentialsChange | undefined): Account | undefined {
    if (change === undefined) return undefined;
    const { credentials, keysRevokedAt, revokedLinks = [], notice, closedAt } = change;
    const { account } = credentials;
    this.accounts.put({ ...credentials, isClosed: closedAt !== undefined });
    if (keysRevokedAt !== undefined) {
      this.keys.revokeAll(account.id, keysRevokedAt);
      this.webhooks.deleteOfAccount(account.id);
    }
    for (const kind of revokedLinks) this.mails.revoke(kind, account.id);
    this.mails.tell(notice);
    if (closedAt !== undefined) this.requestRecords.deleteOfAccount(account.id);
    return account;
  }
}

function credentialsOf(stored: StoredAccount | undefined): Credentials | undefined {
  return stored && { account: stored.account, passwordHash: stored.passwordHash };
}
