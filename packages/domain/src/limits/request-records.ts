import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId, KeyRequester } from '../accounts/keys/api-key.js';
import { DAY, HOUR, type Instant } from '../kernel/clock.js';
import type { FailedRequest, ShownFailedRequests } from './failed-requests.js';

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

/** A request of a known account, with all that is recorded of it. */
export interface RecordedRequest extends KeyRequester {
  readonly at: Instant;
  /** Whether it counts as a use of the key. A request whose key doesn't work is none. */
  readonly isUse: boolean;
  /** Whether the limits admitted it. Undefined if it wasn't counted. */
  readonly isAdmitted?: boolean | undefined;
  /** The name of the operation that it called. Undefined if it was refused before that. */
  readonly operation?: string | undefined;
  readonly failedRequest?: FailedRequest | undefined;
}

/**
 * Port: the usage and the failed requests of each account. The last use of a key, and of each operation by the key, is also
 * recorded here, but read with the keys (`ApiKeyRepository`).
 */
export interface RequestRecords {
  /**
   * Records one request: the minute of the last use of its key and operation, its outcome by UTC hour and day, and its
   * failed request. It returns at once and never fails. Reads show it within seconds, together with the requests of all
   * instances. Refusals of a closed account are never stored.
   */
  record(request: RecordedRequest): void;
  /**
   * The account's usage in the hours or days that begin at `from` or later, of one key or of all keys together,
   * ascending. Those without usage are left out.
   */
  listUsage(accountId: AccountId, span: UsageSpan, from: Instant, keyId?: ApiKeyId): Promise<readonly PeriodOfUsage[]>;
  /** The sum of these hours or days for each of the account's given keys, ascending by id. Unused keys are left out. */
  sumUsageByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]>;
  /**
   * The time of the account's last request that its usage includes, if it was in an hour that begins at `from` or
   * later. Later requests may still be missing from reads.
   */
  lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined>;
  /** The account's failed requests that are kept (`keptFailedRequests`), the latest first, with the keys as they are now. */
  listFailedRequests(accountId: AccountId): Promise<readonly ShownFailedRequests[]>;
  /** Deletes the hours or days that begin before that one. Returns the number of deleted records. */
  purgeUsage(span: UsageSpan, before: Instant): Promise<number>;
  /** Deletes equal failed requests of which the last one was before that instant. Returns the number of records. */
  purgeFailedRequests(before: Instant): Promise<number>;
}
