import { type Instant, isAhead } from '../kernel/clock.js';

export interface AttemptLimit {
  /** Attempts allowed within any span of that length. */
  readonly most: number;
  /** Milliseconds. */
  readonly within: number;
}

export interface CountedAttempt extends AttemptLimit {
  /** SHA-256 of the counted subject, because it may be an address that a stranger typed. */
  readonly subjectHash: string;
  readonly now: Instant;
}

/** Port: counts attempts for all instances together. Each method is atomic. */
export interface AttemptCounter {
  /**
   * Counts an attempt before it is made: of N concurrent attempts, exactly as many as there is room for are counted.
   * Returns undefined if it was counted; otherwise counts nothing and returns the instant at which there is room again.
   */
  count(attempt: CountedAttempt): Promise<Instant | undefined>;
  /** Removes the latest attempt. */
  takeBack(subjectHash: string): Promise<void>;
  /** Removes every attempt. */
  clear(subjectHash: string): Promise<void>;
  /** Deletes attempts that no longer count at that instant. Returns the number of subjects. */
  purge(now: Instant): Promise<number>;
}

/** The attempts that count at `now`. One that lies ahead was counted by a clock that ran ahead. */
export function recentAttempts(times: readonly Instant[], { within, now }: CountedAttempt): Instant[] {
  return times.filter((time) => time > now - within && !isAhead(time, now));
}
