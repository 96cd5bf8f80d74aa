import { type Instant, instant, isAhead, later } from '../kernel/clock.js';

export interface AttemptLimit {
  /** Attempts allowed within any span of that length. */
  readonly most: number;
  /** Milliseconds. */
  readonly within: number;
}

export interface Attempt extends AttemptLimit {
  /** By the clock of this instance. */
  readonly now: Instant;
}

/** The state that `decideAttempt` needs. */
export interface AttemptState {
  /** The counted attempts. */
  readonly times: readonly Instant[];
  /** By the clock that all instances share. */
  readonly sharedNow: Instant;
}

export type AttemptDecision =
  | {
      readonly until: undefined;
      /** The counted attempts. This one is the last. */
      readonly times: readonly Instant[];
      /** The instant at which the last one stops counting. */
      readonly expiresAt: Instant;
    }
  /** Nothing is counted. The next attempt is allowed from this instant on. */
  | { readonly until: Instant };

/** Port: counts attempts for all instances together. Each method is atomic. */
export interface AttemptCounter {
  /**
   * Counts an attempt before it is made, if `decide` allows it. Resolves to the decision. `decide` is called once, and
   * attempts of one subject are decided one after the other.
   *
   * @param subjectHash SHA-256 of the counted subject, which may be private: an address that a stranger typed.
   */
  count(subjectHash: string, decide: (state: AttemptState) => AttemptDecision): Promise<AttemptDecision>;
  /** Removes the latest attempt. */
  refund(subjectHash: string): Promise<void>;
  /** Removes every attempt. */
  clear(subjectHash: string): Promise<void>;
  /** Deletes the subjects of which no attempt counts any more at that instant. Returns their number. */
  purge(now: Instant): Promise<number>;
}

/** Of N concurrent attempts, exactly as many are allowed as the limit has left. */
export function decideAttempt({ times, sharedNow }: AttemptState, { most, within, now }: Attempt): AttemptDecision {
  // An attempt in the future comes from a clock that ran ahead, and doesn't count. The later of the two clocks decides:
  // an instance whose clock is behind must not ignore the attempts of the others.
  const latest = instant(Math.max(now, sharedNow));
  // An instance whose clock is ahead must not remove the attempts that still count for the others.
  const earliest = later(instant(Math.min(now, sharedNow)), -within);
  const kept = times.filter((time) => time > earliest && !isAhead(time, latest)).sort((one, other) => one - other);
  const counting = kept.filter((time) => time > later(now, -within));
  // As many count as are allowed: the next attempt waits until the first of the last `most` stops counting.
  const awaited = counting.at(-most);
  if (awaited !== undefined) return { until: later(awaited, within) };
  return { until: undefined, times: [...kept, now], expiresAt: later(now, within) };
}
