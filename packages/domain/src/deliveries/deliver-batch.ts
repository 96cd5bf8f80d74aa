import { HOUR, later, SECOND } from '../kernel/clock.js';
import type { SystemPorts } from '../kernel/ports.js';
import type { Backlog, Claimed, DeliveryQueue } from './delivery-queue.js';

export interface DeliveryPolicy {
  /** Milliseconds that a claim lasts. If a worker is killed, its item waits at most this long. */
  readonly lease: number;
  /** Attempts after which an item has failed. */
  readonly attempts: number;
  /** Items claimed at once. They are then sent one by one. */
  readonly batch: number;
}

export interface DeliveryOptions {
  readonly delivery: DeliveryPolicy;
}

export const DEFAULT_DELIVERY_POLICY: DeliveryPolicy = { lease: 30 * SECOND, attempts: 16, batch: 10 };

const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = HOUR;

/** The outcome of one attempt. It is a return value, because an unreachable mail server is a normal case. */
type AttemptOutcome =
  | { readonly outcome: 'sent' }
  /** The item was no longer useful, so it was not sent. */
  | { readonly outcome: 'dropped' }
  /** The item will be tried again. */
  | { readonly outcome: 'postponed'; readonly reason: unknown }
  | { readonly outcome: 'failed'; readonly reason: unknown };

/** One attempt to deliver an item. */
export type Attempt<About> = About & { readonly attempt: number } & AttemptOutcome;

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

/**
 * Whether a failed attempt is followed by another, after a pause. None follows if the attempts are used up, or another would
 * be refused, too.
 *
 * @param failure.random 0 to 1
 */
export function decideFailure(
  { failures }: Pick<Claimed, 'failures'>,
  failure: Pick<DeliveryPolicy, 'attempts'> & { readonly reason: unknown; readonly random: number },
): { readonly status: 'queued'; readonly pause: number } | { readonly status: 'failed' } {
  const attempt = failures + 1;
  if (attempt >= failure.attempts || failure.reason instanceof RefusedForGood) return { status: 'failed' };
  return { status: 'queued', pause: pauseAfter(attempt, failure.random) };
}

/** Delivers the items of a queue that are due, one batch per call. `About` is the part of an item that is reported. */
export abstract class DeliverBatch<Id extends string, Item extends Claimed<Id>, About> {
  constructor(
    private readonly queue: DeliveryQueue<Id, Item>,
    protected readonly ports: SystemPorts,
    private readonly policy: DeliveryPolicy,
  ) {}

  /**
   * Claims a batch and sends it. Each item is recorded as sent before the next is sent, so a killed worker leaves at most
   * one item that is sent twice.
   *
   * @param onDelivery called after each attempt.
   * @param isStopping called before each item; if true, the rest of the batch is released.
   * @param onMore called before the first item is sent, if more items may be due: sending may take long.
   * @returns whether more items may be due.
   */
  async execute(
    onDelivery: (delivery: Attempt<About>) => void = () => undefined,
    isStopping: () => boolean = () => false,
    onMore: () => void = () => undefined,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    const { lease, batch } = this.policy;
    // Read before the claim, so that this worker stops before the claim expires.
    const until = later(this.ports.clock.now(), lease);
    const claimed = await this.queue.claim({ limit: batch, lease });
    const mayHaveMore = claimed.length === batch;
    if (mayHaveMore) onMore();
    // The attempt always ends within the lease, so that no other worker sends the item meanwhile.
    const timeout = Math.floor(lease / 3);
    let begun = 0;
    for (const item of claimed) {
      if (isStopping() || this.ports.clock.now() + timeout >= until) break;
      begun += 1;
      const outcome = await this.attempt(item, timeout);
      onDelivery({ ...this.about(item), attempt: item.failures + 1, ...outcome });
    }
    for (const item of claimed.slice(begun)) await this.queue.release(item);
    return { mayHaveMore };
  }

  /** The number of queued items, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.queue.backlog();
  }

  protected abstract about(item: Item): About;

  /** Sends an item within `timeout` milliseconds. Resolves to false if the item was no longer useful and was dropped. */
  protected abstract send(item: Item, timeout: number): Promise<boolean>;

  private async attempt(item: Item, timeout: number): Promise<AttemptOutcome> {
    try {
      if (!(await this.send(item, timeout))) return { outcome: 'dropped' };
    } catch (reason) {
      const random = (this.ports.cryptography.randomBytes(1)[0] ?? 0) / 255;
      const next = decideFailure(item, { reason, random, attempts: this.policy.attempts });
      if (next.status === 'failed') {
        await this.queue.markFailed(item);
        return { outcome: 'failed', reason };
      }
      await this.queue.postpone(item, next.pause);
      return { outcome: 'postponed', reason };
    }
    await this.queue.markSent(item.id);
    return { outcome: 'sent' };
  }
}
