import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import type { Instant } from '../kernel/clock.js';

/** The outcomes of a UTC day's requests. */
export interface DayOfUsage {
  /** Its start. */
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

/** Port: how many requests of each key were admitted and refused, by UTC day. */
export interface UsageRecords {
  /**
   * Notes one request. Nobody waits for it and it never fails: reads show it within seconds, added to what all others
   * have noted, and a process that is lost before then loses it.
   */
  record(key: UsedKey, isAdmitted: boolean, at: Instant): void;
  /** The account's days from that one on, those of its keys together, ascending. A day without use is absent. */
  listDays(accountId: AccountId, from: Instant): Promise<readonly DayOfUsage[]>;
  /**
   * The account's days from that one on, of these keys or of all, ascending by day and key. A day on which a key wasn't
   * used is absent.
   */
  list(accountId: AccountId, from: Instant, keys?: readonly ApiKeyId[]): Promise<readonly KeyDayOfUsage[]>;
  /** Forgets all days before that one; how many of how many keys. */
  forget(before: Instant): Promise<number>;
}
