import type { EventPosition } from '../events/event.js';
import { type Instant, instant, later, SECOND } from '../kernel/clock.js';
import type { WebhookStatus } from './webhook.js';

/** Events that a round takes from the feed at once. */
export const MOST_TAKEN = 100;
/** The most bytes of the events that a round sends: a worker has many rounds at a time, and little memory. */
export const MOST_BYTES = 65_536;
/** With so many queued deliveries, a webhook takes no more events from the feed. */
export const MOST_QUEUED = 10_000;
/** With so many queued deliveries, a webhook recovers no more events. */
export const MOST_RECOVERED = 1_000;
/** Positions of the feed that are searched at once for events to recover. */
export const RECOVERY_PORTION = 1_000;
/** Milliseconds until the next round of a webhook with too many queued deliveries. */
export const WAITING_PAUSE = 4 * SECOND;
/** When a round is due that waits for an event. */
export const NEVER = Infinity as Instant;

/** Events of the feed that will be queued again. */
export interface Recovery {
  /** The owner has asked for the events since then. Undefined: only for those that weren't taken before it was disabled. */
  readonly since: Instant | undefined;
  /** The events up to this position are done. Undefined until it is known where the recovery begins. */
  readonly after: EventPosition | undefined;
  /** The position of its last event. */
  readonly end: EventPosition;
}

/** How far a webhook has followed the feed. */
export interface Follower {
  /** It has taken the events up to this position. */
  readonly position: EventPosition;
  /** It gets no event that happened before. */
  readonly followsSince: Instant;
  readonly recovery: Recovery | undefined;
}

/** What a decision about a follower is based on. */
export type FollowerState = Pick<Follower, 'position' | 'recovery'>;

/** The position of the feed's last event, and the time by the queue's clock. */
export interface FeedEnd {
  readonly end: EventPosition;
  readonly now: Instant;
}

/** What changes: the place where an enabled webhook goes on, or what a disabled one will recover. */
export type FollowerSwitch = Pick<Follower, 'position' | 'followsSince'> | { readonly recovery: Recovery };

/**
 * What changes when a webhook is enabled or disabled. One that is enabled goes on at the end of the feed. One that is
 * disabled recovers, once it is enabled, the events that it hasn't taken yet; a recovery that its owner has asked for
 * includes them. One that has taken everything goes on with the recovery that it had.
 */
export function decideSwitch(
  { position, recovery }: FollowerState,
  status: WebhookStatus,
  { end, now }: FeedEnd,
): FollowerSwitch {
  if (status === 'enabled') return { position: end, followsSince: now };
  if (recovery !== undefined && position >= end) return { recovery };
  if (recovery?.since !== undefined) return { recovery: { ...recovery, end } };
  const { after = position } = recovery ?? {};
  return { recovery: { since: undefined, after: after < position ? after : position, end } };
}

/** The next events to recover: those after one position, up to another. */
export interface RecoveryPortion {
  readonly after: EventPosition;
  readonly until: EventPosition;
  /** What is left then. */
  readonly rest: Recovery | undefined;
}

/** @param purged the position of the last event that is no longer kept. */
export function decidePortion({ since, after, end }: Recovery, purged: EventPosition): RecoveryPortion {
  const start = after === undefined || after < purged ? purged : after;
  const until = (start + BigInt(RECOVERY_PORTION)) as EventPosition;
  return until < end
    ? { after: start, until, rest: { since, after: until, end } }
    : { after: start, until: end, rest: undefined };
}

export interface RoundTimes {
  /** No round is due before, unless the owner asks for a delivery. */
  readonly pausedUntil: Instant;
  readonly roundAt: Instant;
}

/**
 * The times after a round. After the pause, the next round is due at once if the feed may have more events for the
 * webhook, otherwise when a delivery is due.
 *
 * @param dueAt when the first queued delivery is due.
 */
export function decideNextRound(
  { position, recovery, dueAt = NEVER }: FollowerState & { readonly dueAt?: Instant | undefined },
  pause: number,
  { end, now }: FeedEnd,
): RoundTimes {
  const pausedUntil = later(now, pause);
  const mayHaveMore = position < end || recovery !== undefined;
  return { pausedUntil, roundAt: instant(Math.max(pausedUntil, mayHaveMore ? now : dueAt)) };
}
