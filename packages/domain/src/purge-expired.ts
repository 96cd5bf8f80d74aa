import type { AttemptCounter } from './accounts/attempt-counter.js';
import type { CredentialRepository } from './accounts/credential-repository.js';
import { ANSWER_TTL } from './idempotency/answer-once.js';
import type { IdempotencyRecords } from './idempotency/idempotency-records.js';
import { type Clock, DAY, later } from './kernel/clock.js';
import type { RequestCounter } from './quotas/request-counter.js';
import type { UsageRecords } from './quotas/usage-records.js';

/** How long usage by day is kept: a year and a month, so that a month can be held against that of the year before. */
export const USAGE_TTL = 400 * DAY;

/** Of each kind, how many were cleared away. */
export type Purged = Readonly<Record<'counts' | 'answers' | 'resets' | 'attempts' | 'usage', number>>;

/**
 * Clears away what has run out: counts, bans, the answers to requests that nobody repeats anymore, resets of passwords,
 * attempts to sign in, and old usage.
 */
export class PurgeExpired {
  constructor(
    private readonly requests: RequestCounter,
    private readonly idempotency: IdempotencyRecords,
    private readonly credentials: CredentialRepository,
    private readonly attempts: AttemptCounter,
    private readonly usage: UsageRecords,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<Purged> {
    const now = this.clock.now();
    const counts = await this.requests.purge(now);
    const answers = await this.idempotency.forget(later(now, -ANSWER_TTL));
    const resets = await this.credentials.forgetResets(now);
    const attempts = await this.attempts.purge(now);
    return { counts, answers, resets, attempts, usage: await this.usage.forget(later(now, -USAGE_TTL)) };
  }
}
