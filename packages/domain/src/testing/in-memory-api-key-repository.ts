import type { AccountId } from '../accounts/account.js';
import { type ApiKey, type ApiKeyId, keyState, type NewApiKey } from '../accounts/api-key.js';
import type { AccountKey, ApiKeyRepository } from '../accounts/api-key-repository.js';
import { type Instant, instant } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';

export class InMemoryApiKeyRepository implements ApiKeyRepository {
  private readonly keys = new Map<ApiKeyId, ApiKey>();

  constructor(private readonly accounts: InMemoryAccountRepository) {}

  async add(key: NewApiKey): Promise<ApiKey> {
    return this.insert(key);
  }

  private insert(key: NewApiKey): ApiKey {
    if (this.accounts.findById(key.accountId) === undefined) {
      throw new DomainError('not_found', `no account has the id ${key.accountId}`);
    }
    if ([...this.keys.values()].some(({ hash }) => hash === key.hash)) throw new Error('two API keys have one hash');
    const added: ApiKey = {
      ...key,
      id: BigInt(this.keys.size + 1) as ApiKeyId,
      revokedAt: undefined,
      replacedBy: undefined,
      lastUsedAt: undefined,
    };
    this.keys.set(added.id, added);
    return added;
  }

  async findByHash(hash: string): Promise<AccountKey | undefined> {
    return this.withAccount([...this.keys.values()].find((key) => key.hash === hash));
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return this.withAccount(this.keys.get(id));
  }

  async list(accountId?: AccountId): Promise<readonly AccountKey[]> {
    return [...this.keys.values()]
      .filter((key) => accountId === undefined || key.accountId === accountId)
      .flatMap((key) => this.withAccount(key) ?? []);
  }

  async revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    return key && this.put({ ...key, revokedAt: key.revokedAt ?? at });
  }

  async replace(id: ApiKeyId, replacement: NewApiKey, oldEndsAt: Instant): Promise<ApiKey | undefined> {
    const old = this.keys.get(id);
    if (old === undefined || old.replacedBy !== undefined || keyState(old, replacement.createdAt) !== 'active')
      return undefined;
    const added = this.insert(replacement);
    this.put({ ...old, expiresAt: oldEndsAt, replacedBy: added.id });
    return added;
  }

  recordUse(id: ApiKeyId, at: Instant): void {
    const key = this.keys.get(id);
    if (key !== undefined) this.put({ ...key, lastUsedAt: instant(Math.max(key.lastUsedAt ?? at, at)) });
  }

  private put(key: ApiKey): ApiKey {
    this.keys.set(key.id, key);
    return key;
  }

  private withAccount(key: ApiKey | undefined): AccountKey | undefined {
    const account = key && this.accounts.findById(key.accountId);
    return account && { account, key };
  }
}
