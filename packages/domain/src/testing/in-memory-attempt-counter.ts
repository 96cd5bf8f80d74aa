import type { AttemptCounter, AttemptDecision, AttemptState } from '../accounts/attempt-counter.js';
import type { Clock, Instant } from '../kernel/clock.js';

export class InMemoryAttemptCounter implements AttemptCounter {
  private readonly attempts = new Map<string, { readonly times: readonly Instant[]; readonly expiresAt: Instant }>();

  constructor(private readonly clock: Clock) {}

  async count(subjectHash: string, decide: (state: AttemptState) => AttemptDecision): Promise<AttemptDecision> {
    const { times } = this.attempts.get(subjectHash) ?? { times: [] };
    const decision = decide({ times, sharedNow: this.clock.now() });
    if (decision.until === undefined) this.attempts.set(subjectHash, decision);
    return decision;
  }

  async refund(subjectHash: string): Promise<void> {
    const kept = this.attempts.get(subjectHash);
    if (kept !== undefined) this.attempts.set(subjectHash, { ...kept, times: kept.times.slice(0, -1) });
  }

  async clear(subjectHash: string): Promise<void> {
    this.attempts.delete(subjectHash);
  }

  async purge(now: Instant): Promise<number> {
    const expired = [...this.attempts].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [subjectHash] of expired) this.attempts.delete(subjectHash);
    return expired.length;
  }
}
