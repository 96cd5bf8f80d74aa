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
import { HttpRefusal } from './error-codes.js';

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

/** The consequences of a verdict for the response. */
export interface Judgement {
  /** `X-RateLimit-*`, and the headers of draft-ietf-httpapi-ratelimit-headers from the same decision. */
  readonly headers: Readonly<Record<string, string>>;
  /** The 429. Undefined if the request was admitted. */
  readonly refusal: HttpRefusal | undefined;
}

export function judgementOf(verdict: Verdict, now: Instant): Judgement {
  const { outcome } = verdict;
  const refusal = outcome === 'admitted' ? undefined : refusalOf(outcome, retryAfter(verdict, now));
  return { headers: limitHeaders(verdict, now), refusal };
}

function limitHeaders(verdict: Verdict, now: Instant): Judgement['headers'] {
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

function refusalOf(outcome: Exceeded, seconds: number): HttpRefusal {
  return new HttpRefusal(outcome, limitMessage(outcome, seconds), { 'retry-after': String(seconds) });
}

/** When the window ends, in Unix seconds. */
export function resetSeconds({ resetsAt }: QuotaWindow): number {
  return Math.ceil(resetsAt / SECOND);
}

function left(window: QuotaWindow, now: Instant): string {
  return `r=${remainingIn(window)};t=${Math.max(0, Math.ceil((window.resetsAt - now) / SECOND))}`;
}
