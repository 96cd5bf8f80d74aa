import { type AttemptCounter, type CountedAttempt, recentAttempts } from '../accounts/attempt-counter.js';
import { type Instant, later } from '../kernel/clock.js';

export class InMemoryAttemptCounter implements AttemptCounter {
  private readonly attempts = new Map<string, { readonly times: readonly Instant[]; readonly expiresAt: Instant }>();

  async count(attempt: CountedAttempt): Promise<Instant | undefined> {
    const { subjectHash, most, within, now } = attempt;
    const times = recentAttempts(this.attempts.get(subjectHash)?.times ?? [], attempt);
    const earliest = times.at(-most);
    if (earliest !== undefined) return later(earliest, within);
    this.attempts.set(subjectHash, { times: [...times, now], expiresAt: later(now, within) });
    return undefined;
  }

  async takeBack(subjectHash: string): Promise<void> {
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
