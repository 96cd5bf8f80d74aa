import type { AccountId } from '../accounts/account.js';
import {
  type ApiKey,
  type ApiKeyId,
  endOf,
  endOfReplaced,
  hasEnded,
  keyState,
  type NewApiKey,
  type OperationUse,
  tooManyKeys,
  tooManyKeysToday,
} from '../accounts/api-key.js';
import type {
  AccountKey,
  ApiKeyRepository,
  KeySearch,
  ListPart,
  PastKeysQuery,
} from '../accounts/api-key-repository.js';
import { DAY, type Instant, instant, startOf } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';

export class InMemoryApiKeyRepository implements ApiKeyRepository {
  private readonly keys = new Map<ApiKeyId, ApiKey>();
  private readonly operations = new Map<ApiKeyId, Map<string, Instant>>();
  private lastId = 0n;

  constructor(private readonly accounts: InMemoryAccountRepository) {}

  async add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey> {
    if (!this.hasVersion(key.accountId, version)) throw noAccount(key.accountId);
    return this.insert(key, this.activeAt(key.accountId, key.createdAt), mostActive, mostADay);
  }

  private insert(key: NewApiKey, active: number, mostActive = Infinity, mostADay = Infinity): ApiKey {
    if (this.accounts.stored(key.accountId) === undefined) {
      throw noAccount(key.accountId);
    }
    if (active >= mostActive) throw tooManyKeys(mostActive);
    const today = startOf(DAY, key.createdAt);
    const madeToday = this.keysOf(key.accountId).filter(({ createdAt }) => createdAt >= today);
    if (madeToday.length >= mostADay) throw tooManyKeysToday(mostADay);
    if ([...this.keys.values()].some(({ hash }) => hash === key.hash)) throw new Error('two API keys have one hash');
    const added: ApiKey = {
      ...key,
      id: (this.lastId += 1n) as ApiKeyId,
      revokedAt: undefined,
      disabledAt: undefined,
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

  async list(accountId?: AccountId, { after, limit }: ListPart<ApiKeyId> = {}): Promise<readonly AccountKey[]> {
    return [...this.keys.values()]
      .filter((key) => accountId === undefined || key.accountId === accountId)
      .filter(({ id }) => after === undefined || id > after)
      .slice(0, limit)
      .flatMap((key) => this.withAccount(key) ?? []);
  }

  async listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]> {
    return this.keysOf(accountId).filter((key) => !hasEnded(key, at));
  }

  async listPast({ accountId, at, limit }: PastKeysQuery): Promise<readonly ApiKey[]> {
    return this.keysOf(accountId)
      .filter((key) => hasEnded(key, at))
      .sort((one, other) => Number(endOf(other)) - Number(endOf(one)) || Number(other.id - one.id))
      .slice(0, limit);
  }

  async search({ accountId, states, at, name, after, before, limit }: KeySearch): Promise<readonly ApiKey[]> {
    const found = this.keysOf(accountId)
      .filter((key) => states.includes(keyState(key, at)))
      .filter((key) => name === undefined || key.name?.toLowerCase().includes(name.toLowerCase()))
      .reverse();
    if (before !== undefined) return found.filter(({ id }) => id > before).slice(-limit);
    return found.filter(({ id }) => after === undefined || id < after).slice(0, limit);
  }

  async purge(endedUntil: Instant): Promise<number> {
    const over = [...this.keys.values()].filter((key) => (endOf(key) ?? Infinity) <= endedUntil);
    for (const { id } of over) {
      this.keys.delete(id);
      this.operations.delete(id);
    }
    for (const key of this.keys.values()) {
      if (key.replacedBy !== undefined && !this.keys.has(key.replacedBy)) this.put({ ...key, replacedBy: undefined });
    }
    return over.length;
  }

  async revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    return key && this.put({ ...key, revokedAt: key.revokedAt ?? at });
  }

  async rename(id: ApiKeyId, name: string | undefined): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    return key && this.put({ ...key, name });
  }

  async disable(id: ApiKeyId, at: Instant | undefined): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    if (key === undefined || key.revokedAt !== undefined) return undefined;
    return this.put({ ...key, disabledAt: at && (key.disabledAt ?? at) });
  }

  async replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined> {
    const old = this.keys.get(id);
    if (old !== undefined && !this.hasVersion(old.accountId, version)) return undefined;
    if (old === undefined || old.replacedBy !== undefined || keyState(old, replacement.createdAt) !== 'active')
      return undefined;
    const end = endOfReplaced(oldEndsAt, replacement.createdAt);
    const active = this.activeAt(old.accountId, replacement.createdAt) - (end.revokedAt === undefined ? 0 : 1);
    const added = this.insert(replacement, active, mostActive, mostADay);
    this.put({ ...old, ...end, replacedBy: added.id });
    return added;
  }

  async takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void> {
    await this.revoke(id, at);
    const old = replaced && this.keys.get(replaced.id);
    if (old?.replacedBy !== id) return;
    const revokedAt = old.revokedAt === old.expiresAt ? undefined : old.revokedAt;
    this.put({ ...old, expiresAt: replaced?.expiresAt, revokedAt, replacedBy: undefined });
  }

  /** Records a use of the key, and of the operation if one is given, in the minute that begins then. */
  use(id: ApiKeyId, minute: Instant, operation?: string): void {
    const key = this.keys.get(id);
    if (key === undefined) return;
    this.put({ ...key, lastUsedAt: instant(Math.max(key.lastUsedAt ?? minute, minute)) });
    const uses = this.operations.get(id) ?? new Map<string, Instant>();
    if (operation === undefined || (uses.get(operation) ?? -Infinity) >= minute) return;
    this.operations.set(id, uses.set(operation, minute));
  }

  async listOperations(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const called = [...this.operations].filter(([id]) => ids.includes(id));
    return new Map(called.map(([id, uses]) => [id, latestFirst(uses)]));
  }

  revokeAll(accountId: AccountId, at: Instant): void {
    for (const key of this.keys.values()) {
      if (key.accountId === accountId) this.put({ ...key, revokedAt: key.revokedAt ?? at });
    }
  }

  private hasVersion(id: AccountId, version: number | undefined): boolean {
    return version === undefined || this.accounts.stored(id)?.account.credentialVersion === version;
  }

  private activeAt(accountId: AccountId, now: Instant): number {
    return this.keysOf(accountId).filter((key) => !hasEnded(key, now)).length;
  }

  private keysOf(accountId: AccountId): readonly ApiKey[] {
    return [...this.keys.values()].filter((key) => key.accountId === accountId);
  }

  private put(key: ApiKey): ApiKey {
    this.keys.set(key.id, key);
    return key;
  }

  private withAccount(key: ApiKey | undefined): AccountKey | undefined {
    const account = key && this.accounts.accountOf(key.accountId);
    return account && { account, key };
  }
}

function latestFirst(uses: ReadonlyMap<string, Instant>): readonly OperationUse[] {
  return [...uses]
    .map(([operation, lastUsedAt]) => ({ operation, lastUsedAt }))
    .sort((one, other) => other.lastUsedAt - one.lastUsedAt || (one.operation < other.operation ? -1 : 1));
}

function noAccount(id: AccountId): DomainError {
  return new DomainError('not_found', `no account has the id ${id}`);
}
