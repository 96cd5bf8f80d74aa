import type { AccountId } from '../accounts/account.js';
import {
  type ApiKey,
  type ApiKeyId,
  endOf,
  hasEnded,
  type KeyHolder,
  keyState,
  type KeyToChange,
  type MadeKey,
  type NewApiKey,
  type OperationUse,
  type RotatedKey,
  type RotationState,
  type RolledBackKey,
  type UnseenKey,
} from '../accounts/keys/api-key.js';
import type { AccountKey, ApiKeyRepository, KeySearch, PastKeysQuery } from '../accounts/keys/api-key-repository.js';
import { DAY, type Instant, instant, startOf } from '../kernel/clock.js';
import type { ListPart } from '../kernel/page.js';
import type { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryApiKeyRepository implements ApiKeyRepository {
  private readonly keys = new Map<ApiKeyId, ApiKey>();
  /** Returns a function that restores the current state. */
  readonly remember = () => remember(this.keys);
  private readonly operations = new Map<ApiKeyId, Map<string, Instant>>();
  private lastId = 0n;

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly mails: InMemoryAccountMailQueue,
  ) {}

  async add(accountId: AccountId, at: Instant, decide: (state: KeyHolder) => MadeKey): Promise<ApiKey> {
    const { key, notice } = decide(this.holderOf(accountId, at));
    const added = this.insert(key);
    this.mails.tell(notice);
    return added;
  }

  private insert(key: NewApiKey): ApiKey {
    if ([...this.keys.values()].some(({ hash }) => hash === key.hash)) throw new Error('two API keys have one hash');
    this.lastId += 1n;
    const unused = { revokedAt: undefined, disabledAt: undefined, replacedBy: undefined, lastUsedAt: undefined };
    return this.put({ ...key, id: this.lastId as ApiKeyId, ...unused });
  }

  async findByHash(hash: string): Promise<AccountKey | undefined> {
    return this.withAccount([...this.keys.values()].find((key) => key.hash === hash));
  }

  async findById(id: ApiKeyId): Promise<AccountKey | undefined> {
    return this.withAccount(this.keys.get(id));
  }

  stored(id: ApiKeyId): ApiKey | undefined {
    return this.keys.get(id);
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
      .filter(
        (key) => name === undefined || (key.name !== undefined && searchable(key.name).includes(searchable(name))),
      )
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
    for (const key of this.keys.values())
      if (key.replacedBy !== undefined && !this.keys.has(key.replacedBy)) this.put({ ...key, replacedBy: undefined });
    return over.length;
  }

  async change(id: ApiKeyId, decide: (state: KeyToChange) => ApiKey): Promise<ApiKey> {
    const key = this.keys.get(id);
    return this.update(decide({ account: key && this.accounts.stored(key.accountId)?.account, key }));
  }

  async replace(
    id: ApiKeyId,
    at: Instant,
    decide: (state: RotationState) => RotatedKey,
  ): ReturnType<ApiKeyRepository['replace']> {
    const key = this.keys.get(id);
    const rotated = decide({ ...this.holderOf(key?.accountId, at), old: key });
    const replacement = this.insert(rotated.replacement);
    this.mails.tell(rotated.notice);
    return { old: this.update({ ...rotated.old, replacedBy: replacement.id }), replacement };
  }

  async rollBack(id: ApiKeyId, decide: (state: UnseenKey) => RolledBackKey): Promise<void> {
    const old = [...this.keys.values()].find(({ replacedBy }) => replacedBy === id);
    const { key, replaced } = decide({ key: this.keys.get(id), replaced: old });
    this.update(key);
    if (replaced !== undefined) this.update(replaced);
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
    for (const key of this.keysOf(accountId)) if (!hasEnded(key, at)) this.put({ ...key, revokedAt: at });
  }

  private holderOf(accountId: AccountId | undefined, at: Instant): KeyHolder {
    if (accountId === undefined) return { account: undefined, activeKeys: 0, madeToday: 0 };
    const keys = this.keysOf(accountId);
    return {
      account: this.accounts.stored(accountId)?.account,
      activeKeys: keys.filter((key) => !hasEnded(key, at)).length,
      madeToday: keys.filter(({ createdAt }) => createdAt >= startOf(DAY, at)).length,
    };
  }

  private keysOf(accountId: AccountId): readonly ApiKey[] {
    return [...this.keys.values()].filter((key) => key.accountId === accountId);
  }

  /** Stores what may change of a key. */
  private update({ id, name, expiresAt, revokedAt, disabledAt, replacedBy }: ApiKey): ApiKey {
    const stored = this.keys.get(id);
    if (stored === undefined) throw new Error(`there is no API key ${id}`);
    return this.put({ ...stored, name, expiresAt, revokedAt, disabledAt, replacedBy });
  }

  private put(key: ApiKey): ApiKey {
    this.keys.set(key.id, key);
    return key;
  }

  private withAccount(key: ApiKey | undefined): AccountKey | undefined {
    return key && { account: this.accounts.accountOf(key.accountId), key };
  }
}

function latestFirst(uses: ReadonlyMap<string, Instant>): readonly OperationUse[] {
  return [...uses]
    .map(([operation, lastUsedAt]) => ({ operation, lastUsedAt }))
    .sort((one, other) => other.lastUsedAt - one.lastUsedAt);
}

function searchable(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
