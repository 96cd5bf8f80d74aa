import {
  type Instant,
  type Outcome,
  type QuotaWindow,
  remainingIn,
  retryAfter,
  SECOND,
  shownWindow,
  type Verdict,
} from '@adoption-store/domain';
import type { FastifyReply } from 'fastify';
import { HttpRefusal } from '../http/error-codes.js';

type Exceeded = Exclude<Outcome, 'admitted'>;

const MESSAGES: Readonly<Record<Exceeded, string>> = {
  rate_limited: 'too many requests in this minute',
  daily_quota_exceeded: 'too many requests today',
  key_banned: 'the API key is banned for a while, because it kept sending after 429s',
};

/** The text of a 429. */
export function limitMessage(outcome: Exceeded, seconds: number): string {
  return `${MESSAGES[outcome]}; try again in ${seconds} s`;
}

/**
 * The limit headers of every response: `X-RateLimit-*`, and the headers of draft-ietf-httpapi-ratelimit-headers from
 * the same decision.
 */
export function limitHeaders(verdict: Verdict, now: Instant): Readonly<Record<string, string>> {
  const shown = shownWindow(verdict);
  const { minute, day } = verdict;
  const hasDay = day.limit !== Infinity;
  return {
    'x-ratelimit-limit': String(shown.limit),
    'x-ratelimit-remaining': String(remainingIn(shown)),
    'x-ratelimit-reset': String(resetSeconds(shown)),
    'ratelimit-policy': `"minute";q=${minute.limit};w=60${hasDay ? `, "day";q=${day.limit};w=86400` : ''}`,
    ratelimit: `"minute";${left(minute, now)}${hasDay ? `, "day";${left(day, now)}` : ''}`,
  };
}

/** Sets the limit headers. Returns the error to throw, or undefined if the request was admitted. */
export function setLimitHeaders(reply: FastifyReply, verdict: Verdict, now: Instant): HttpRefusal | undefined {
  reply.headers(limitHeaders(verdict, now));
  return refusalOf(verdict, now);
}

/** The error for a verdict, or undefined if the request was admitted. */
export function refusalOf(verdict: Verdict, now: Instant): HttpRefusal | undefined {
  const { outcome } = verdict;
  if (outcome === 'admitted') return undefined;
  const seconds = retryAfter(verdict, now);
  return new HttpRefusal(outcome, limitMessage(outcome, seconds), { 'retry-after': String(seconds) });
}

/** When the window ends, in Unix seconds. */
export function resetSeconds({ resetsAt }: QuotaWindow): number {
  return Math.ceil(resetsAt / SECOND);
}

function left(window: QuotaWindow, now: Instant): string {
  return `r=${remainingIn(window)};t=${Math.max(0, Math.ceil((window.resetsAt - now) / SECOND))}`;
}
