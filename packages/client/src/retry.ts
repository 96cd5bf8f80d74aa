import type { ApiError } from './api-error.js';
import { httpDate } from './http-date.js';
import { JITTER } from './limiter.js';

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8_000;
/** 0: no response came. */
const PASSING = [0, 408, 429, 502, 503, 504];

/**
 * Milliseconds to wait after the nth try: a random time from half to the whole of a bound that doubles each time, and
 * never less than `Retry-After`, in seconds.
 */
export function backOff(tries: number, retryAfter: number | undefined, longest = LONGEST_WAIT): number {
  const bound = Math.min(longest, FIRST_WAIT * 2 ** (tries - 1));
  const random = Math.random();
  return Math.max((bound * (1 + random)) / 2, retryAfter === undefined ? 0 : retryAfter * 1000 + random * JITTER);
}

/** Whether the same request may succeed later. A POST isn't repeated after a 500: that is a defect, which may stay. */
export function isPassing({ code, status }: ApiError, method: string): boolean {
  // The next response would be as large.
  if (code === 'response_too_large') return false;
  const isIdempotent = method !== 'POST' && method !== 'PATCH';
  return PASSING.includes(status) || code === 'idempotency_key_in_use' || (status === 500 && isIdempotent);
}

/**
 * `Retry-After` in seconds (RFC 9110 §10.2.3). The API sends seconds; a proxy may send a date. Others, as -5 or 1.5,
 * are ignored.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = httpDate(text);
  if (date === undefined) return undefined;
  // Uses the sender's clock, because the local one may be wrong.
  const now = httpDate(headers.get('Date')) ?? Date.now();
  return Math.max(0, (date - now) / 1000);
}
