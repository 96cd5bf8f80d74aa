import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import { DAY, HOUR, type Instant } from '../kernel/clock.js';

/** Numbers of requests by their outcome. */
export interface Outcomes {
  readonly admitted: number;
  /** Refused by a limit of the plan or by a ban. */
  readonly refused: number;
}

/** The spans of UTC time by which usage is recorded, with their lengths in milliseconds. */
export const USAGE_SPANS = { hour: HOUR, day: DAY } as const;
export type UsageSpan = keyof typeof USAGE_SPANS;

/** The usage of one UTC hour or day. */
export interface PeriodOfUsage extends Outcomes {
  readonly start: Instant;
}

export interface UsageOfKey extends Outcomes {
  readonly keyId: ApiKeyId;
}

export interface UsedKey {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
}

/** Port: admitted and refused requests of each key, by UTC hour and by UTC day. */
export interface UsageRecords {
  /**
   * Records one request. It returns at once and never fails. Reads show it within seconds, added to the records of all
   * instances. A record that is not stored yet is lost if the process crashes.
   */
  record(key: UsedKey, isAdmitted: boolean, at: Instant): void;
  /**
   * The account's hours or days that begin at `from` or later, of one key or of all keys together, ascending. Those
   * without usage are left out.
   */
  list(accountId: AccountId, span: UsageSpan, from: Instant, keyId?: ApiKeyId): Promise<readonly PeriodOfUsage[]>;
  /** The sum of these hours or days for each of the account's given keys, ascending. Unused keys are left out. */
  sumByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]>;
  /**
   * The time of the account's last request that reads include, if it was in an hour that begins at `from` or later.
   * Later requests may still be missing from reads.
   */
  lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined>;
  /** Deletes the hours or days that begin before that one. Returns the number of deleted records. */
  forget(span: UsageSpan, before: Instant): Promise<number>;
}
