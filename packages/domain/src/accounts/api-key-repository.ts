import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId } from './account.js';
import type { ApiKey, ApiKeyId, NewApiKey } from './api-key.js';

export interface AccountKey {
  readonly account: Account;
  readonly key: ApiKey;
}

/** Whether the key belongs to that account. True for every key if no account is given. */
export function isTheirs({ account }: AccountKey, accountId: AccountId | undefined): boolean {
  return accountId === undefined || account.id === accountId;
}

/** A part of a list: at most `limit` items after the id `after`. Without either, the whole list. */
export interface ListPart<Id> {
  readonly after?: Id | undefined;
  readonly limit?: number | undefined;
}

/** The position of a key in the list of past keys. */
export interface PastKeyPlace {
  readonly endedAt: Instant;
  readonly id: ApiKeyId;
}

export interface PastKeysQuery {
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly before?: PastKeyPlace | undefined;
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
  findByHash(hash: string): Promise<AccountKey | undefined>;
  findById(id: ApiKeyId): Promise<AccountKey | undefined>;
  /** All keys, or those of one account, ascending by id. Only the given part is read from the store. */
  list(accountId?: AccountId, part?: ListPart<ApiKeyId>): Promise<readonly AccountKey[]>;
  /** The account's keys that are active at that instant, ascending by id. */
  listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]>;
  /**
   * The account's keys that have ended by `at`, the latest end first: at most `limit` of those that follow `before`.
   */
  listPast(query: PastKeysQuery): Promise<readonly ApiKey[]>;
  /** Deletes the keys that ended at or before that instant, with their records. Returns the number of keys. */
  forgetPast(endedUntil: Instant): Promise<number>;
  /** Revokes the key. A key that is already revoked keeps its first instant. Undefined if there is no such key. */
  revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined>;
  /**
   * Adds the replacement and ends the old key as `endOfReplaced` says: both or neither. With concurrent calls only one
   * replaces the key. Returns undefined, and changes nothing, if the old key is unknown or already replaced, if it is
   * revoked or expired when the replacement is created, or if the account has another version.
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
  /**
   * Records that the key was used at that instant; the latest one is kept. It returns at once and never fails. Reads
   * show it within seconds. A use that is not stored yet is lost if the process crashes.
   */
  recordUse(id: ApiKeyId, at: Instant): void;
}
