import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type AttemptCounter, type AttemptLimit, decideAttempt } from './attempt-counter.js';

/** Slows down callers who guess passwords, ask which addresses have accounts, or have mail sent to strangers. */
export class LimitAttempts {
  constructor(
    private readonly attempts: AttemptCounter,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** Counts an attempt. Undefined if it is allowed; otherwise the milliseconds until there is room again. */
  async execute(subject: string, limit: AttemptLimit): Promise<number | undefined> {
    const now = this.clock.now();
    const { until } = await this.attempts.count(this.cryptography.sha256(subject), (state) =>
      decideAttempt(state, { ...limit, now }),
    );
    return until === undefined ? undefined : until - now;
  }

  /** Removes an attempt that succeeded, so that it doesn't count. */
  async takeBack(subject: string): Promise<void> {
    await this.attempts.takeBack(this.cryptography.sha256(subject));
  }

  /** Resets the counts of these subjects. */
  async clear(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) await this.attempts.clear(this.cryptography.sha256(subject));
  }
}
