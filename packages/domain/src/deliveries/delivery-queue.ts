import type { Instant } from '../kernel/clock.js';

/** One claim of a queued item. Each later claim of the same item has a higher number. */
export interface Claim<Id extends string = string> {
  readonly id: Id;
  /** 1 for the first claim of the item, then 2 … */
  readonly number: number;
}

export interface Claimed<Id extends string = string> extends Claim<Id> {
  /** Failed attempts so far. */
  readonly failures: number;
}

/** Asks for at most `limit` items, for `lease` milliseconds. */
export interface ClaimRequest {
  readonly limit: number;
  readonly lease: number;
}

export interface Backlog {
  /** Items that wait to be sent, also claimed ones. A store may count only the `MOST_COUNTED` that are due longest. */
  readonly queued: number;
  /** When the oldest counted item was created. */
  readonly oldest: Instant | undefined;
}

/** Without a limit, counting a long queue would exceed the query's time limit, just when the number is needed most. */
export const MOST_COUNTED = 10_000;

/**
 * A queue of items to deliver. An item is due once it is queued, except while it is claimed. A claim expires if the
 * item isn't sent, postponed, released or given up in time, so a crashed worker loses no item. Only the queue's own
 * clock decides what is due, so that processes whose clocks differ agree. Each method is atomic, and a write is durable
 * once its promise resolves.
 */
export interface DeliveryQueue<Id extends string, Item extends Claimed<Id>> {
  /**
   * Claims at most `limit` items that are due, for `lease` milliseconds. No other caller gets them before then, and
   * concurrent callers never get the same item. Accounts take turns, also within one claim: each account that waits when
   * another has its turn comes before that one's next turn. A turn is one item, the account's longest due. It doesn't wait
   * for a locked account.
   */
  claim(request: ClaimRequest): Promise<readonly Item[]>;
  /** Marks the item sent, even if the claim has expired or was followed by another. */
  markSent(id: Id): Promise<void>;
  /**
   * Ends the claim after a failed attempt. The item is due again after `pause` milliseconds. Does nothing if a later
   * claim exists.
   */
  postpone(claim: Claim<Id>, pause: number): Promise<void>;
  /** Ends the claim without an attempt; the item is due again. Does nothing if a later claim exists. */
  release(claim: Claim<Id>): Promise<void>;
  /** Gives the item up. Does nothing if a later claim exists. */
  markFailed(claim: Claim<Id>): Promise<void>;
  backlog(): Promise<Backlog>;
}
