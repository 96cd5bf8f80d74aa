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
import type { FastifyRequest } from 'fastify';
import { normalizeIp } from '@nestjs/throttler';
import type { ApiReply } from './api-response.js';
import { HttpRefusal } from './error-codes.js';

const MESSAGES: Readonly<Record<Exclude<Outcome, 'admitted'>, string>> = {
  rate_limited: 'too many requests in this minute',
  daily_quota_exceeded: 'too many requests today',
  key_banned: 'the API key is banned for a while, for it went on after too many refusals',
};

/**
 * What every response tells of the limits, as lines of its head: requirements.md §8, and the same decision in the words
 * of draft-ietf-httpapi-ratelimit-headers.
 */
export function limitLines(verdict: Verdict, now: Instant): string {
  const shown = shownWindow(verdict);
  const { minute, day } = verdict;
  return (
    `\r\nx-ratelimit-limit: ${shown.limit}\r\nx-ratelimit-remaining: ${remainingIn(shown)}` +
    `\r\nx-ratelimit-reset: ${resetSeconds(shown)}${policyLine(minute.limit, day.limit)}` +
    `\r\nratelimit: "minute";${left(minute, now)}${day.limit === Infinity ? '' : `, "day";${left(day, now)}`}`
  );
}

/** What was written last, as many have the same plan. */
let last = { perMinute: 0, perDay: 0, line: '' };

function policyLine(perMinute: number, perDay: number): string {
  if (perMinute !== last.perMinute || perDay !== last.perDay) {
    const day = perDay === Infinity ? '' : `, "day";q=${perDay};w=86400`;
    last = { perMinute, perDay, line: `\r\nratelimit-policy: "minute";q=${perMinute};w=60${day}` };
  }
  return last.line;
}

/** Tells the client of the verdict; the refusal, or undefined where the request was admitted. */
export function tellLimits({ raw }: ApiReply, verdict: Verdict, now: Instant): HttpRefusal | undefined {
  raw.limits = limitLines(verdict, now);
  return refusalOf(verdict, now);
}

/** The refusal of a verdict, or undefined where the request was admitted. */
export function refusalOf(verdict: Verdict, now: Instant): HttpRefusal | undefined {
  const { outcome } = verdict;
  if (outcome === 'admitted') return undefined;
  const seconds = retryAfter(verdict, now);
  return new HttpRefusal(outcome, `${MESSAGES[outcome]}; try again in ${seconds} s`, {
    'retry-after': String(seconds),
  });
}

/** When the window starts anew, in Unix seconds. */
export function resetSeconds({ resetsAt }: QuotaWindow): number {
  return Math.ceil(resetsAt / SECOND);
}

/** Whom requests without a valid key are counted against. An IPv6 client has a whole /64 to choose from, so it counts as one. */
export function addressOf({ ip }: Pick<FastifyRequest, 'ip'>): { readonly address: string } {
  return { address: normalizeIp(ip) };
}

function left(window: QuotaWindow, now: Instant): string {
  return `r=${remainingIn(window)};t=${Math.max(0, Math.ceil((window.resetsAt - now) / SECOND))}`;
}
