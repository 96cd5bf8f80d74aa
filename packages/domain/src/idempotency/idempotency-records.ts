import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';

export interface IdempotentRequest {
  readonly accountId: AccountId;
  /** The client's name for what it asks. */
  readonly key: string;
  /** The same for the same request, and for no other. */
  readonly fingerprint: string;
  readonly now: Instant;
  /** Deletes the answers of this instant and before. */
  readonly forgottenUntil: Instant;
}

export interface RecordedAnswer {
  readonly answer: string;
  /** Of the request that was answered. */
  readonly fingerprint: string;
  /** Whether the answer was there already, and `work` has not been run. */
  readonly isReplay: boolean;
}

/** Port: what has been answered to the requests that clients may repeat. Each method is atomic. */
export interface IdempotencyRecords {
  /**
   * Runs `work` and records its answer, in one transaction with all that `work` does through the other ports; gives the
   * recorded answer, and runs nothing, where the account's key has one. Of concurrent callers with one key the first
   * runs and the others wait for it. Where `work` throws, nothing has happened, and the key is free.
   */
  once(request: IdempotentRequest, work: () => Promise<string>): Promise<RecordedAnswer>;
  /** Forgets what was answered at this instant or before; how many answers that were. */
  forget(until: Instant): Promise<number>;
}
