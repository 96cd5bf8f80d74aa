import { ANSWER_TTL } from './idempotency/answer-once.js';
import type { IdempotencyRecords } from './idempotency/idempotency-records.js';
import { type Clock, later } from './kernel/clock.js';
import type { RequestCounter } from './quotas/request-counter.js';

/** Clears away what has run out: counts, bans, and the answers to requests that nobody repeats anymore. */
export class PurgeExpired {
  constructor(
    private readonly requests: RequestCounter,
    private readonly idempotency: IdempotencyRecords,
    private readonly clock: Clock,
  ) {}

  /** How many of each were cleared away. */
  async execute(): Promise<{ readonly counts: number; readonly answers: number }> {
    const now = this.clock.now();
    const counts = await this.requests.purge(now);
    return { counts, answers: await this.idempotency.forget(later(now, -ANSWER_TTL)) };
  }
}
