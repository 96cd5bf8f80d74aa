import type { ApiError } from './api-error.js';
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
