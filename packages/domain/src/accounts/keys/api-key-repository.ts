import type { Instant } from '../../kernel/clock.js';
import type { Account, AccountId } from '../account.js';
import type { ListPart, PagePart } from '../../kernel/page.js';
import type { Transaction } from '../../kernel/transaction.js';
import type {
  ApiKey,
  ApiKeyId,
  KeyHolder,
  KeyState,
  KeyToChange,
  MadeKey,
  OperationUse,
  RotatedKey,
  RotationState,
  RolledBackKey,
  UnseenKey,
} from './api-key.js';

export interface AccountKey {
  readonly account: Account;
  readonly key: ApiKey;
}

export interface PastKeysQuery {
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly limit: number;
}

/** A part of an account's keys, newest first: the keys after the key `after` in this order, or before `before`. */
export interface KeySearch extends PagePart<ApiKeyId> {
  readonly accountId: AccountId;
  /** Only keys in one of these states at the instant `at`. */
  readonly states: readonly KeyState[];
  readonly at: Instant;
  /** Only keys whose name contains this text, in capital or small letters. */
  readonly name?: string | undefined;
}

export type StoredRotation = Readonly<Record<'old' | 'replacement', ApiKey>>;

/**
 * Port: the API keys. A key's id is higher than those of all earlier keys. Each method is atomic. `decide` is called
 * once, with what is stored; what it returns is stored, and if it throws nothing is changed. What is stored in a
 * `transaction` is undone with it.
 */
export interface ApiKeyRepository {
  /**
   * Adds the key that `decide` returns, and queues its notice. Its account is locked: meanwhile no other key is added,
   * the account isn't closed and its password doesn't change. The state counts the keys at the key's creation.
   */
  add(
    accountId: AccountId,
    at: Instant,
    decide: (state: KeyHolder) => MadeKey,
    transaction?: Transaction,
  ): Promise<ApiKey>;
  /**
   * The key with its account, as they were at most one second ago, but for its last use: in any state, and also if the
   * account is closed. An unknown hash is always looked up.
   *
   * @throws DomainError `service_unavailable`
   */
  findByHash(hash: string): AccountKey | Promise<AccountKey | undefined>;
  findById(id: ApiKeyId): Promise<AccountKey | undefined>;
  /** All keys, or those of one account, or the given part of them, ascending by id. */
  list(accountId?: AccountId, part?: ListPart<ApiKeyId>): Promise<readonly AccountKey[]>;
  /** The account's keys that are active or disabled at that instant, ascending by id. */
  listActive(accountId: AccountId, at: Instant): Promise<readonly ApiKey[]>;
  /** At most `limit` of the account's keys that have ended by `at`, the latest end first. */
  listPast(query: PastKeysQuery): Promise<readonly ApiKey[]>;
  /** At most `limit` of the matching keys, newest first: those next to the given position. */
  search(query: KeySearch): Promise<readonly ApiKey[]>;
  /**
   * Deletes the keys that ended at or before that instant, with their records. A key whose replacement is deleted has
   * none. Returns the number of keys.
   */
  purge(endedUntil: Instant): Promise<number>;
  /**
   * Stores the name, expiry, revocation, disabling and replacement that `decide` returns, and nothing else. Locks the
   * account, so that it isn't closed and its password doesn't change meanwhile, and then the key. Resolves to the key
   * as it is stored.
   */
  change(id: ApiKeyId, decide: (state: KeyToChange) => ApiKey): Promise<ApiKey>;
  /**
   * Adds the replacement, changes the old key and queues the notice: all or nothing. Locks the account, as `add` does,
   * and then the old key. Resolves to both keys as they are stored.
   */
  replace(
    id: ApiKeyId,
    at: Instant,
    decide: (state: RotationState) => RotatedKey,
    transaction?: Transaction,
  ): Promise<StoredRotation>;
  /** Locks and changes the key and the one that it replaced. */
  rollBack(id: ApiKeyId, decide: (state: UnseenKey) => RolledBackKey): Promise<void>;
  /**
   * The operations that each of these keys has called, the latest call first. A key that has called none is left out.
   */
  listOperations(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>>;
}
