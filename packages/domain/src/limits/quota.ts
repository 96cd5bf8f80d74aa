import type { PlanLimits } from '../accounts/plan.js';
import { DAY, HOUR, type Instant, instant, isAhead, later, MINUTE, SECOND, startOf } from '../kernel/clock.js';

/** Requests without a valid key that one address may send in a minute. */
export const DEFAULT_ADDRESS_LIMIT = 60;

/** Requests admitted in the current UTC minute and the current UTC day. */
export interface Usage {
  /** Start of the minute that `minuteUsed` counts. */
  readonly minuteStart: Instant;
  readonly minuteUsed: number;
  /** Start of the day that `dayUsed` counts. */
  readonly dayStart: Instant;
  readonly dayUsed: number;
}

/** The refusals and bans of a key so far. */
export interface Refusals {
  /** Start of the minute that `count` counts. */
  readonly minuteStart: Instant;
  readonly count: number;
  /** Start and end of the latest ban; both 0 if there was none. */
  readonly bannedAt: Instant;
  readonly bannedUntil: Instant;
}

export interface BanPolicy {
  /** Refusals of one key within one UTC minute that ban it. */
  readonly refusals: number;
  /** Milliseconds of the first ban. Each further ban within a day is twice as long. */
  readonly firstBan: number;
  /** The longest ban, in milliseconds. */
  readonly longestBan: number;
}

export const DEFAULT_BAN_POLICY: BanPolicy = { refusals: 50, firstBan: 5 * MINUTE, longestBan: HOUR };

export interface QuotaWindow {
  readonly limit: number;
  readonly used: number;
  /** When the window ends. */
  readonly resetsAt: Instant;
}

export const OUTCOMES = ['admitted', 'rate_limited', 'daily_quota_exceeded', 'key_banned'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The decision about a request, and the windows after it. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly minute: QuotaWindow;
  /** Its limit is Infinity for addresses, which are counted by the minute only. */
  readonly day: QuotaWindow;
  /** End of the key's ban; undefined if it isn't banned. */
  readonly bannedUntil: Instant | undefined;
}

const NEVER = instant(0);
export const NO_USAGE: Usage = { minuteStart: NEVER, minuteUsed: 0, dayStart: NEVER, dayUsed: 0 };
export const NO_REFUSALS: Refusals = { minuteStart: NEVER, count: 0, bannedAt: NEVER, bannedUntil: NEVER };

export interface CountedState {
  readonly usage: Usage;
  /** The key's refusals and ban. Undefined for an address, which is never banned. */
  readonly refusals: Refusals | undefined;
}

export interface Decision {
  readonly verdict: Verdict;
  readonly usage: Usage;
  readonly refusals: Refusals;
}

/**
 * Decides whether both windows have room for one more request. An admitted request is counted in both windows, a
 * refused one in neither. Too many refusals of a key within a minute ban it. Windows and bans that begin more than two
 * minutes after `now` are ignored: they come from a clock that ran ahead.
 */
export function decideAdmission(
  { usage, refusals }: CountedState,
  limits: PlanLimits,
  now: Instant,
  policy: BanPolicy,
): Decision {
  const current = currentUsage(usage, now);
  const known = currentRefusals(refusals, now);
  if (known.bannedUntil > now)
    return { verdict: verdictOn(current, limits, known, now), usage: current, refusals: known };
  const outcome = roomIn(current, limits);
  if (outcome === 'admitted') {
    const { minuteStart, minuteUsed, dayStart, dayUsed } = current;
    const counted = { minuteStart, minuteUsed: minuteUsed + 1, dayStart, dayUsed: dayUsed + 1 };
    return { verdict: describe(outcome, counted, limits, undefined), usage: counted, refusals: known };
  }
  const after = refusals === undefined ? known : refuse(known, now, policy);
  const isBanned = after.bannedUntil > now;
  return {
    verdict: describe(isBanned ? 'key_banned' : outcome, current, limits, isBanned ? after.bannedUntil : undefined),
    usage: current,
    refusals: after,
  };
}

/** The verdict that a request would get now, without counting one. */
export function verdictOn(usage: Usage, limits: PlanLimits, refusals: Refusals | undefined, now: Instant): Verdict {
  const current = currentUsage(usage, now);
  const bannedUntil = banEnd(refusals, now);
  return describe(bannedUntil === undefined ? roomIn(current, limits) : 'key_banned', current, limits, bannedUntil);
}

/** The end of the ban. Undefined if there is none at `now`. */
export function banEnd(refusals: Refusals | undefined, now: Instant): Instant | undefined {
  const { bannedUntil } = currentRefusals(refusals, now);
  return bannedUntil > now ? bannedUntil : undefined;
}

/**
 * The window that the headers show: the one with fewer requests left, or the minute if they are equal. For a refusal:
 * the exhausted window that resets last.
 */
export function shownWindow({ outcome, minute, day }: Verdict): QuotaWindow {
  if (outcome !== 'admitted' && remainingIn(day) === 0) return day;
  return remainingIn(day) < remainingIn(minute) ? day : minute;
}

/** Never negative: a plan change can put the limit below the used count. */
export function remainingIn({ limit, used }: QuotaWindow): number {
  return Math.max(0, limit - used);
}

/** Whole seconds, at least 1, after which a refused request has room again. */
export function retryAfter(verdict: Verdict, now: Instant): number {
  const until = verdict.bannedUntil ?? shownWindow(verdict).resetsAt;
  return Math.max(1, Math.ceil((until - now) / SECOND));
}

/** The usage in the windows of `now`. A clock at most two minutes behind doesn't bring an earlier window back. */
function currentUsage(usage: Usage, now: Instant): Usage {
  const isMinute = isCurrent(usage.minuteStart, MINUTE, now);
  const isDay = isCurrent(usage.dayStart, DAY, now);
  return {
    minuteStart: isMinute ? usage.minuteStart : startOf(MINUTE, now),
    minuteUsed: isMinute ? usage.minuteUsed : 0,
    dayStart: isDay ? usage.dayStart : startOf(DAY, now),
    dayUsed: isDay ? usage.dayUsed : 0,
  };
}

/**
 * Merges two processes' counts of an account: the later window, or the higher count of the same window. A window that
 * lies ahead of `now` comes from a clock that ran ahead, and is dropped.
 */
export function mergeUsage(stored: Usage, own: Usage, now: Instant): Usage {
  const minute = laterWindow([stored.minuteStart, stored.minuteUsed], [own.minuteStart, own.minuteUsed], now);
  const day = laterWindow([stored.dayStart, stored.dayUsed], [own.dayStart, own.dayUsed], now);
  return { minuteStart: minute[0], minuteUsed: minute[1], dayStart: day[0], dayUsed: day[1] };
}

/** Of two processes' records of a key, the one with the later ban. A ban that lies ahead of `now` is dropped. */
export function mergeRefusals(stored: Refusals, own: Refusals, now: Instant): Refusals {
  const [theirs, ours] = [currentRefusals(stored, now), currentRefusals(own, now)];
  const isLater = ours.bannedAt - theirs.bannedAt || ours.bannedUntil - theirs.bannedUntil;
  return isLater > 0 ? ours : theirs;
}

type CountedWindow = readonly [start: Instant, used: number];

function laterWindow(stored: CountedWindow, own: CountedWindow, now: Instant): CountedWindow {
  if (isAhead(own[0], now)) return isAhead(stored[0], now) ? [NEVER, 0] : stored;
  if (isAhead(stored[0], now) || own[0] > stored[0]) return own;
  return own[0] < stored[0] || own[1] < stored[1] ? stored : own;
}

function isCurrent(start: Instant, length: number, now: Instant): boolean {
  return now < start + length && !isAhead(start, now);
}

/** A ban begins with the refusal that caused it. If that seems to be in the future, a clock ran ahead. */
function currentRefusals(refusals: Refusals | undefined, now: Instant): Refusals {
  return refusals === undefined || isAhead(refusals.bannedAt, now) ? NO_REFUSALS : refusals;
}

function roomIn({ minuteUsed, dayUsed }: Usage, { perMinute, perDay }: PlanLimits): Exclude<Outcome, 'key_banned'> {
  if (dayUsed >= perDay) return 'daily_quota_exceeded';
  return minuteUsed >= perMinute ? 'rate_limited' : 'admitted';
}

function refuse(known: Refusals, now: Instant, policy: BanPolicy): Refusals {
  const isMinute = isCurrent(known.minuteStart, MINUTE, now);
  const count = (isMinute ? known.count : 0) + 1;
  const minuteStart = isMinute ? known.minuteStart : startOf(MINUTE, now);
  if (count < policy.refusals) return { ...known, minuteStart, count };
  const isFurther = now < known.bannedAt + DAY;
  const length = isFurther ? 2 * (known.bannedUntil - known.bannedAt) : policy.firstBan;
  return { minuteStart, count: 0, bannedAt: now, bannedUntil: later(now, Math.min(length, policy.longestBan)) };
}

function describe(outcome: Outcome, usage: Usage, limits: PlanLimits, bannedUntil: Instant | undefined): Verdict {
  return {
    outcome,
    minute: { limit: limits.perMinute, used: usage.minuteUsed, resetsAt: later(usage.minuteStart, MINUTE) },
    day: { limit: limits.perDay, used: usage.dayUsed, resetsAt: later(usage.dayStart, DAY) },
    bannedUntil,
  };
}
