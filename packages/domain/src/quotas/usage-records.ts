import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import type { Instant } from '../kernel/clock.js';

/** Outcomes of the requests of one UTC day. */
export interface DayOfUsage {
  /** The start of the day. */
  readonly day: Instant;
  readonly admitted: number;
  readonly refused: number;
}

export interface KeyDayOfUsage extends DayOfUsage {
  readonly keyId: ApiKeyId;
}

export interface UsedKey {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
}

/** Port: admitted and refused requests of each key, by UTC day. */
export interface UsageRecords {
  /**
   * Records one request. It returns at once and never fails. Reads show it within seconds, added to the records of all
   * instances. A record that is not stored yet is lost if the process crashes.
   */
  record(key: UsedKey, isAdmitted: boolean, at: Instant): void;
  /** The account's days from `from` on, all keys together, ascending. Days without usage are left out. */
  listDays(accountId: AccountId, from: Instant): Promise<readonly DayOfUsage[]>;
  /**
   * The account's days from `from` on, of the given keys or all keys, ascending by day and key. Days on which a key
   * wasn't used are left out.
   */
  list(accountId: AccountId, from: Instant, keys?: readonly ApiKeyId[]): Promise<readonly KeyDayOfUsage[]>;
  /** Deletes all days before that one. Returns the number of deleted records. */
  forget(before: Instant): Promise<number>;
}
