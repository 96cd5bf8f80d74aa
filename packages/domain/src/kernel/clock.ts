import type { Branded } from './branded.js';
import { invalid, ours } from './errors.js';

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

const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const YEAR_OF_FOUR_DIGITS = /^\d{4}-/;

/**
 * The instant of a time in RFC 3339.
 *
 * @throws InvalidInput if it isn't such a time, has no existing date, or a leap second, or a year in UTC without four
 * digits.
 */
export function readInstant(field: string, text: string): Instant {
  const [, date = '', time = '', fraction = '', offset = ''] = TIME.exec(text) ?? [];
  const milliseconds = Date.parse(`${date}T${time}${fraction}${offset.toUpperCase()}`);
  if (!exists(date, time) || !YEAR_OF_FOUR_DIGITS.test(inUtc(milliseconds)))
    throw invalid(field, ours`must be a time that exists, such as 2026-11-21T12:00:00Z`);
  return instant(milliseconds);
}

/** Date.parse takes 30 February for 2 March, and 24:00 for the next day. Only a time that exists is written as it was read. */
function exists(date: string, time: string): boolean {
  return inUtc(Date.parse(`${date}T${time}Z`)).startsWith(`${date}T${time}.`);
}

function inUtc(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? '' : new Date(milliseconds).toISOString();
}

/** The start of the UTC window of that length (in milliseconds) that contains `now`. */
export function startOf(length: number, now: Instant): Instant {
  return (now - (now % length)) as Instant;
}

/** Whether a stored time is so far in the future that either its clock or this one must be wrong. */
export function isAhead(time: Instant, now: Instant): boolean {
  return time > now + MOST_SKEW;
}

export function later(from: Instant, milliseconds: number): Instant {
  return (from + milliseconds) as Instant;
}
