import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';

export interface IdempotentRequest {
  readonly accountId: AccountId;
  /** The idempotency key that the client chose. */
  readonly key: string;
  /** Equal for equal requests only. */
  readonly fingerprint: string;
  readonly now: Instant;
  /** Answers of this instant or earlier are deleted. */
  readonly expiredUntil: Instant;
}

export interface RecordedAnswer {
  readonly answer: string;
  /** The fingerprint of the request that was answered. */
  readonly fingerprint: string;
  /** Whether the answer was already recorded, so `work` did not run. */
  readonly isReplay: boolean;
}

/** Port: the answers to repeatable requests. Each method is atomic. */
export interface IdempotencyRecords {
  /**
   * Runs `work` and records its answer in the same transaction. If the account's key has a recorded answer, returns it
   * and doesn't run `work`. Of concurrent callers with the same key, the first one runs and the others wait. If `work`
   * throws, nothing has changed and the key is free again.
   *
   * @throws DomainError `idempotency_key_in_use` if an adapter lets nobody wait for so long.
   */
  once(request: IdempotentRequest, work: (transaction: Transaction) => Promise<string>): Promise<RecordedAnswer>;
  /** Deletes answers of this instant or earlier. Returns their number. */
  purge(until: Instant): Promise<number>;
}
