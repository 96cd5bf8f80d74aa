import type { Branded } from './branded.js';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = Branded<number, 'Instant'>;

/** Port: the current time. The domain has no clock of its own. */
export interface Clock {
  now(): Instant;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** How far the clocks of two instances may differ, in milliseconds. */
export const MOST_SKEW = 2 * MINUTE;

export function instant(milliseconds: number): Instant {
  return milliseconds as Instant;
}

/** The start of the UTC window of that length (in milliseconds) that contains `now`. */
export function startOf(length: number, now: Instant): Instant {
  return (now - (now % length)) as Instant;
}

/** Whether a stored time lies so far ahead of `now` that the clock of one of the two is wrong. */
export function isAhead(time: Instant, now: Instant): boolean {
  return time > now + MOST_SKEW;
}

export function later(from: Instant, milliseconds: number): Instant {
  return (from + milliseconds) as Instant;
}
