import type { Instant } from '../kernel/clock.js';

export interface AttemptLimit {
  /** Attempts that may lie within any span of time of that length. */
  readonly most: number;
  /** Milliseconds. */
  readonly within: number;
}

export interface CountedAttempt extends AttemptLimit {
  /** SHA-256 of what is counted, as it may be an address that a stranger has typed. */
  readonly subjectHash: string;
  readonly now: Instant;
}

/** Port: counts attempts for all instances together. Each method is atomic. */
export interface AttemptCounter {
  /**
   * Counts an attempt, before anybody judges it: of N parallel ones exactly those for which there is room are counted.
   * Undefined then; otherwise nothing is counted, and the instant at which there is room again.
   */
  count(attempt: CountedAttempt): Promise<Instant | undefined>;
  /** Takes the latest attempt back. */
  takeBack(subjectHash: string): Promise<void>;
  /** Takes every attempt back. */
  forget(subjectHash: string): Promise<void>;
  /** Clears away attempts that no longer count at that instant; of how many subjects. */
  purge(now: Instant): Promise<number>;
}

/** The attempts that still count. */
export function recentAttempts(times: readonly Instant[], { within, now }: CountedAttempt): Instant[] {
  return times.filter((time) => time > now - within);
}
