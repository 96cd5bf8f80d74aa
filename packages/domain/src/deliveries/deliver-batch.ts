import { HOUR, type Instant, later, SECOND } from '../kernel/clock.js';
import type { SystemPorts } from '../kernel/ports.js';
import type { Claimed, DeliveryQueue } from './delivery-queue.js';

export interface DeliveryPolicy {
  /** Milliseconds that a claim lasts. If a worker is killed, its item waits at most this long. */
  readonly lease: number;
  /** Attempts after which an item has failed. */
  readonly attempts: number;
  /**
   * Items claimed at once. By default one, so that another account's next item waits for the sending of one, not of a
   * batch.
   */
  readonly batch: number;
}

/** The pauses between the attempts to send an item. */
interface Pauses {
  /** Milliseconds after the first failed attempt, the second …; the last pause is repeated after all later attempts. */
  readonly longest: readonly number[];
  /**
   * A random part of each pause, from 0 to this (at most 1), is subtracted: items that failed together are spread out.
   */
  readonly drawn: number;
}

export interface DeliveryOptions {
  readonly delivery: DeliveryPolicy;
}

export const DEFAULT_DELIVERY_POLICY: DeliveryPolicy = { lease: 30 * SECOND, attempts: 16, batch: 1 };

/** Each is twice the one before, up to an hour. */
const MAIL_PAUSES: Pauses = {
  longest: [...[5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560].map((seconds) => seconds * SECOND), HOUR],
  drawn: 0.5,
};

/**
 * What is reported of one attempt to deliver an item. A failure is returned, not thrown, because an unreachable mail
 * server is a normal case.
 */
export type DeliveryReport<Reported> = Reported & { readonly attempt: number } & (
    | { readonly outcome: 'sent' }
    /** The item was no longer useful, so it was not sent. */
    | { readonly outcome: 'dropped' }
    /** The item will be tried again. */
    | { readonly outcome: 'postponed'; readonly reason: unknown }
    | { readonly outcome: 'failed'; readonly reason: unknown }
  );

/** Thrown by a sender if every further attempt would be refused, too. */
export class PermanentFailure extends Error {}

/**
 * Milliseconds until the next attempt.
 *
 * @param random 0 to 1
 */
export function pauseAfter(attempt: number, random: number, { longest, drawn } = MAIL_PAUSES): number {
  const pause = longest[attempt - 1] ?? longest.at(-1) ?? 0;
  return Math.round(pause * (1 - random * drawn));
}

/**
 * Whether a failed item is queued for another attempt. It has failed for good if its attempts are used up, if it would
 * expire before the next, or if every further one would be refused, too.
 *
 * @param failure.random 0 to 1
 */
export function decideFailure(
  { failures }: Pick<Claimed, 'failures'>,
  failure: {
    readonly attempts: number;
    /** Milliseconds until it expires. Default: never. */
    readonly left?: number;
    /** Default: `MAIL_PAUSES`. */
    readonly pauses?: Pauses;
    readonly reason: unknown;
    readonly random: number;
  },
): { readonly status: 'queued'; readonly pause: number } | { readonly status: 'failed' } {
  const attempt = failures + 1;
  const pause = pauseAfter(attempt, failure.random, failure.pauses);
  const isLast = attempt >= failure.attempts || pause >= (failure.left ?? Infinity);
  if (isLast || failure.reason instanceof PermanentFailure) return { status: 'failed' };
  return { status: 'queued', pause };
}

/** The item's status after a delivery attempt. */
type DeliveryResult = (ReturnType<typeof decideFailure> | { readonly status: 'sent' | 'dropped' }) & {
  readonly reason?: unknown;
};

/** A queue, and how its items are sent. `Reported` is the part of an item that is reported with each attempt. */
export interface Deliveries<Id extends string, Item extends Claimed<Id>, Reported> {
  readonly queue: DeliveryQueue<Id, Item>;
  /**
   * Sends an item within `timeout` milliseconds. Resolves to false if the item was no longer useful and was dropped.
   */
  readonly send: (item: Item, timeout: number) => Promise<boolean>;
  readonly reportedOf: (item: Item) => Reported;
  /** When the item expires. If given, it is tried until then, however often. */
  readonly expiryOf?: (item: Item) => Instant;
  readonly policy: DeliveryPolicy;
  readonly ports: SystemPorts;
}

export interface BatchCalls<Reported> {
  /** Called after each attempt. */
  readonly onAttempt?: (report: DeliveryReport<Reported>) => void;
  /** Called before each item is sent. If it returns true, the rest of the batch is released. */
  readonly isStopping?: () => boolean;
  /** Called before the first item is sent, if more items may be due. Sending may take long, so others should help. */
  readonly onMore?: () => void;
}

/**
 * Claims a batch of what is due and sends it, one item after another. The outcome of each item is recorded at once, so
 * a killed worker leaves at most one item that is sent twice: the one that was being sent.
 *
 * @returns whether more items may be due.
 */
export async function deliverBatch<Id extends string, Item extends Claimed<Id>, Reported>(
  deliveries: Deliveries<Id, Item, Reported>,
  { onAttempt, isStopping, onMore }: BatchCalls<Reported>,
): Promise<{ readonly mayHaveMore: boolean }> {
  const { queue, reportedOf, policy, ports } = deliveries;
  const { lease, batch } = policy;
  // Much shorter than the lease, so that each attempt ends before another worker could claim the item.
  const timeout = Math.floor(lease / 3);
  // Read before the claim, so that this worker stops before the claim expires.
  const until = later(ports.clock.now(), lease);
  const claimed = await queue.claim({ limit: batch, lease });
  const mayHaveMore = claimed.length === batch;
  if (mayHaveMore) onMore?.();
  for (const item of claimed) {
    if (isStopping?.() === true || ports.clock.now() + timeout >= until) {
      await queue.release(item);
      continue;
    }
    const result = await attempt(deliveries, item, timeout);
    await recordOutcome(queue, item, result);
    const report = { ...reportedOf(item), attempt: item.failures + 1 };
    const { status, reason } = result;
    if (status === 'sent' || status === 'dropped') onAttempt?.({ ...report, outcome: status });
    else onAttempt?.({ ...report, outcome: outcomeOf(status), reason });
  }
  return { mayHaveMore };
}

async function attempt<Id extends string, Item extends Claimed<Id>, Reported>(
  { send, expiryOf, policy, ports }: Deliveries<Id, Item, Reported>,
  item: Item,
  timeout: number,
): Promise<DeliveryResult> {
  try {
    return { status: (await send(item, timeout)) ? 'sent' : 'dropped' };
  } catch (reason) {
    const random = (ports.cryptography.randomBytes(1)[0] ?? 0) / 255;
    const limit =
      expiryOf === undefined
        ? { attempts: policy.attempts }
        : { attempts: Infinity, left: expiryOf(item) - ports.clock.now() };
    return { ...decideFailure(item, { ...limit, reason, random }), reason };
  }
}

async function recordOutcome<Id extends string, Item extends Claimed<Id>>(
  queue: DeliveryQueue<Id, Item>,
  item: Item,
  result: DeliveryResult,
): Promise<void> {
  if (result.status === 'sent') await queue.markSent(item.id);
  if (result.status === 'queued') await queue.postpone(item, result.pause);
  if (result.status === 'failed') await queue.markFailed(item);
}

export function outcomeOf(status: 'queued' | 'failed'): 'postponed' | 'failed' {
  return status === 'queued' ? 'postponed' : status;
}
