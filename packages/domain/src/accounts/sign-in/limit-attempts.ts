import { type AttemptLimit, decideAttempt } from '../attempt-counter.js';
import type { HolderPorts } from '../ports.js';

/** Slows down callers who guess passwords, ask which addresses have accounts, or have mail sent to strangers. */
export class LimitAttempts {
  constructor(private readonly ports: Pick<HolderPorts, 'attempts' | 'cryptography' | 'clock'>) {}

  /** Counts an attempt. Undefined if it is allowed; otherwise the milliseconds until the next one is. */
  async execute(subject: string, limit: AttemptLimit): Promise<number | undefined> {
    const now = this.ports.clock.now();
    const { until } = await this.ports.attempts.count(this.ports.cryptography.sha256(subject), (state) =>
      decideAttempt(state, { ...limit, now }),
    );
    return until === undefined ? undefined : until - now;
  }

  /** Removes an attempt that succeeded, so that it doesn't count. */
  async refund(subject: string): Promise<void> {
    await this.ports.attempts.refund(this.ports.cryptography.sha256(subject));
  }

  /** Resets the counts of these subjects. */
  async clear(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) await this.ports.attempts.clear(this.ports.cryptography.sha256(subject));
  }
}
