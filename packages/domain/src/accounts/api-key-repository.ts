import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId } from './account.js';
import type { ApiKey, ApiKeyId, NewApiKey } from './api-key.js';

export interface AccountKey {
  readonly account: Account;
  readonly key: ApiKey;
}

/** Whether the key is that account's; anybody's is, where it isn't said whose it must be. */
export function isTheirs({ account }: AccountKey, accountId: AccountId | undefined): boolean {
  return accountId === undefined || account.id === accountId;
}

/** Which part of a list: what follows that id, so many at the most; all of it where neither is given. */
export interface ListPart<Id> {
  readonly after?: Id | undefined;
  readonly limit?: number | undefined;
}

/** Where a key stands among those that are over. */
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
   * Adds the key, unless its account then had more than `mostActive` that are active at its creation, or more than
   * `mostADay` that were made on that UTC day, however many race; or unless it hasn't the `version` of its credentials
   * that the asker has seen: a request that was under way when the password was reset leaves no key behind.
   *
   * @throws DomainError `not_found` where there is no such account it is closed, or has another version; `too_many_keys`.
   */
  add(key: NewApiKey, mostActive?: number, version?: number, mostADay?: number): Promise<ApiKey>;
  findByHash(hash: string): Promise<AccountKey | undefined>;
  findById(id: ApiKeyId): Promise<AccountKey | undefined>;
  /** All keys, or one account's, ascending by id; of a part of them only that is read. */
  list(accountId?: AccountId, part?: ListPart<ApiKeyId>): Promise<readonly AccountKey[]>;
  /** The account's keys that are active at that instant, ascending by id. */
  listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]>;
  /** The account's keys that are over by `at`, the last to end first: at most `limit` of those that follow `before`. */
  listPast(query: PastKeysQuery): Promise<readonly ApiKey[]>;
  /** Deletes the keys that ended until that instant, and what is kept of each; how many keys. */
  forgetPast(endedUntil: Instant): Promise<number>;
  /** Marks the key revoked; one that already is keeps its first instant. Undefined where there is no such key. */
  revoke(id: ApiKeyId, at: Instant): Promise<ApiKey | undefined>;
  /**
   * Adds the replacement and ends the old key as `endOfReplaced` says, both or neither. Undefined, and nothing changed, where
   * the old key is unknown, replaced already, or revoked or expired at the replacement's creation, or the account hasn't
   * that version: of racing callers one replaces it.
   *
   * @throws DomainError `too_many_keys` as `add` does; the old key is then as it was.
   */
  replace(
    id: ApiKeyId,
    replacement: NewApiKey,
    oldEndsAt: Instant,
    mostActive?: number,
    version?: number,
    mostADay?: number,
  ): Promise<ApiKey | undefined>;
  /**
   * Revokes a key that nobody has seen; a key that it has replaced has the end again that it had before. Both or
   * neither.
   */
  takeBack(id: ApiKeyId, at: Instant, replaced?: ApiKey): Promise<void>;
  /**
   * Notes that the key was used at that instant; the latest one stays. Nobody waits for it and it never fails: reads
   * show it within seconds, and a store that is lost before then loses it.
   */
  recordUse(id: ApiKeyId, at: Instant): void;
}
