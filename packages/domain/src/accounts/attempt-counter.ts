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
  // Drops attempts in the future, which a clock that ran ahead has recorded. The later clock says what is future, so
  // that an instance whose clock is behind keeps the others' attempts.
  const latest = instant(Math.max(now, sharedNow));
  // Drops old attempts. The earlier clock says what is old, so that an instance whose clock is ahead keeps them for the
  // others.
  const earliest = later(instant(Math.min(now, sharedNow)), -within);
  const kept = times.filter((time) => time > earliest && !isAhead(time, latest)).sort((one, other) => one - other);
  const counting = kept.filter((time) => time > later(now, -within));
  // Undefined if fewer than `most` count. Otherwise there is room again once this one no longer counts.
  const blocking = counting.at(-most);
  if (blocking !== undefined) return { until: later(blocking, within) };
  return { until: undefined, times: [...kept, now], expiresAt: later(now, within) };
}
