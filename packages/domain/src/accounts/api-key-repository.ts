import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId } from './account.js';
import type { PagePlace } from '../kernel/page.js';
import type { ApiKey, ApiKeyId, KeyState, NewApiKey, OperationUse } from './api-key.js';

export interface AccountKey {
  readonly account: Account;
  readonly key: ApiKey;
}

/** A part of a list: at most `limit` items after the id `after`. Without either, the whole list. */
export interface ListPart<Id> {
  readonly after?: Id | undefined;
  readonly limit?: number | undefined;
}

export interface PastKeysQuery {
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly limit: number;
}

/** A part of an account's keys, newest first. `after` is behind that key in this order, `before` in front of it. */
export interface KeySearch extends PagePlace<ApiKeyId> {
  readonly accountId: AccountId;
  /** Only keys in one of these states at the instant `at`. */
  readonly states: readonly KeyState[];
  readonly at: Instant;
  /** Only keys whose name contains this text, in capital or small letters. */
  readonly name?: string | undefined;
  readonly limit: number;
}

/** Port: the API keys. Each method is atomic. */
export interface ApiKeyRepository {
  /**
   * Adds the key. The checks and the insert are one step, so concurrent calls can't exceed a limit, and a request that
   * was in progress when the password was reset can't leave a key behind.
   *
   * @param mostActive active keys that the account may have
   * @param version the `credentialVersion` that the account must still have
   * @param mostADay keys that the account may make on one UTC day
   * @throws DomainError `not_found` if there is no such account, it is closed, or it has another version;
   * `too_many_keys`.
   */
  add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey>;
  /**
   * The key with its account, as they were at most one second ago. A hash that was unknown then is looked up again.
   *
   * @throws DomainError `service_unavailable`
   */
  findByHash(hash: string): Promise<AccountKey | undefined>;
  findById(id: ApiKeyId): Promise<AccountKey | undefined>;
  /** All keys, or those of one account, ascending by id. Only the given part is read from the store. */
  list(accountId?: AccountId, part?: ListPart<ApiKeyId>): Promise<readonly AccountKey[]>;
  /** The account's keys that are active or disabled at that instant, ascending by id. */
  listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]>;
  /** At most `limit` of the account's keys that have ended by `at`, the latest end first. */
  listPast(query: PastKeysQuery): Promise<readonly ApiKey[]>;
  /** At most `limit` of the matching keys, newest first: those next to the given place. */
  search(query: KeySearch): Promise<readonly ApiKey[]>;
  /** Deletes the keys that ended at or before that instant, with their records. Returns the number of keys. */
  purge(endedUntil: Instant): Promise<number>;
  /** Revokes the key. A key that is already revoked keeps its first instant. Undefined if there is no such key. */
  revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined>;
  /** Gives the key another name, or none. Nothing else of it changes. Undefined if there is no such key. */
  rename(id: ApiKeyId, name: string | undefined): Promise<ApiKey | undefined>;
  /**
   * Disables the key, or enables it if no instant is given. A key that is already disabled keeps its first instant.
   * Undefined, and nothing changed, if there is no such key or it is revoked.
   */
  disable(id: ApiKeyId, at: Instant | undefined): Promise<ApiKey | undefined>;
  /**
   * Adds the replacement and ends the old key as `endOfReplaced` says: both or neither. With concurrent calls only one
   * replaces the key. Returns undefined, and changes nothing, if the old key is unknown or already replaced, if it isn't
   * active when the replacement is created, or if the account has another version.
   *
   * @throws DomainError `too_many_keys`, as `add` does; the old key is then unchanged.
   */
  replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined>;
  /** Revokes a key that nobody has seen, and restores the previous end of the key that it replaced. Both or neither. */
  takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void>;
  /** The operations that each of these keys has called, the latest first. A key that has called none is left out. */
  listOperations(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>>;
}

/** The key, if it belongs to that account, or to any if none is given. */
export async function findTheirs(
  keys: ApiKeyRepository,
  id: bigint,
  accountId: AccountId | undefined,
): Promise<ApiKey | undefined> {
  const found = await keys.findById(id as ApiKeyId);
  return accountId === undefined || found?.account.id === accountId ? found?.key : undefined;
}
