import { type Clock, HOUR, later, SECOND } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Claimed, DeliveryQueue } from './delivery-queue.js';

export interface DeliveryPolicy {
  /** Milliseconds that a claim lasts. If a worker is killed, its item waits at most this long. */
  readonly lease: number;
  /** Attempts after which an item has failed. */
  readonly attempts: number;
  /** Items claimed at once. They are then sent one by one. */
  readonly batch: number;
}

export const DEFAULT_DELIVERY_POLICY: DeliveryPolicy = { lease: 30 * SECOND, attempts: 16, batch: 10 };

const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = HOUR;

/** The outcome of one attempt. It is a return value, because an unreachable mail server is a normal case. */
export type AttemptOutcome =
  | { readonly outcome: 'sent' }
  /** The item was no longer useful, so it was not sent. */
  | { readonly outcome: 'dropped' }
  /** The item will be tried again. */
  | { readonly outcome: 'postponed'; readonly reason: unknown }
  | { readonly outcome: 'failed'; readonly reason: unknown };

/** Thrown by a sender if another attempt would be refused, too. */
export class RefusedForGood extends Error {}

/**
 * Milliseconds until the next attempt: 5 s after the first, doubling up to an hour. Up to half is subtracted at random,
 * so that items that failed together aren't retried together.
 *
 * @param random 0 to 1
 */
export function pauseAfter(attempt: number, random: number): number {
  const longest = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE);
  return Math.round(longest * (1 - random / 2));
}

export interface DeliveryParts<Id extends string, Item extends Claimed<Id>> {
  readonly queue: DeliveryQueue<Id, Item>;
  readonly clock: Clock;
  readonly cryptography: Cryptography;
  readonly policy: DeliveryPolicy;
  /** Sends an item within `timeout` milliseconds. Resolves to false if the item was no longer useful and was dropped. */
  readonly send: (item: Item, timeout: number) => Promise<boolean>;
}

/**
 * Claims a batch of a queue and sends it. Each item is recorded as sent before the next is sent, so a killed worker
 * leaves at most one item that is sent twice.
 *
 * @param onAttempt called after each attempt.
 * @param isStopping called before each item; if true, the rest of the batch is released.
 * @param onMore called before the first item is sent, if more items may be due: sending may take long.
 * @returns whether more items may be due.
 */
export async function deliverBatch<Id extends string, Item extends Claimed<Id>>(
  parts: DeliveryParts<Id, Item>,
  onAttempt: (item: Item, attempt: number, outcome: AttemptOutcome) => void,
  isStopping: () => boolean,
  onMore: () => void,
): Promise<{ readonly mayHaveMore: boolean }> {
  const { queue, clock } = parts;
  const { lease, batch } = parts.policy;
  // Read before the claim, so that this worker stops before the claim expires.
  const until = later(clock.now(), lease);
  const claimed = await queue.claim({ limit: batch, lease });
  const mayHaveMore = claimed.length === batch;
  if (mayHaveMore) onMore();
  // The attempt always ends within the lease, so that no other worker sends the item meanwhile.
  const timeout = Math.floor(lease / 3);
  let begun = 0;
  for (const item of claimed) {
    if (isStopping() || clock.now() + timeout >= until) break;
    begun += 1;
    onAttempt(item, item.failures + 1, await attempt(parts, item, timeout));
  }
  for (const item of claimed.slice(begun)) await queue.release(item);
  return { mayHaveMore };
}

async function attempt<Id extends string, Item extends Claimed<Id>>(
  { queue, cryptography, policy, send }: DeliveryParts<Id, Item>,
  item: Item,
  timeout: number,
): Promise<AttemptOutcome> {
  try {
    if (!(await send(item, timeout))) return { outcome: 'dropped' };
  } catch (reason) {
    const number = item.failures + 1;
    if (number >= policy.attempts || reason instanceof RefusedForGood) {
      await queue.markFailed(item);
      return { outcome: 'failed', reason };
    }
    const random = (cryptography.randomBytes(1)[0] ?? 0) / 255;
    await queue.postpone(item, pauseAfter(number, random));
    return { outcome: 'postponed', reason };
  }
  await queue.markSent(item.id);
  return { outcome: 'sent' };
}
