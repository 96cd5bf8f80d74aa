import { type Clock, HOUR, later, SECOND } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Backlog, ClaimedMessage, MessageQueue } from './message-queue.js';
import type { MessageSender } from './message-sender.js';

export interface DeliveryPolicy {
  /** Milliseconds that a claim lasts. If a worker is killed, its message waits at most this long. */
  readonly lease: number;
  /** Attempts after which a message has failed. */
  readonly attempts: number;
  /** Messages claimed at once. They are then sent one by one. */
  readonly batch: number;
}

export const DEFAULT_DELIVERY_POLICY: DeliveryPolicy = { lease: 30 * SECOND, attempts: 16, batch: 10 };

const FIRST_PAUSE = 5 * SECOND;
const LONGEST_PAUSE = HOUR;

/** The outcome of one attempt. It is a return value, because an unreachable mail server is a normal case. */
export type Delivery = Pick<ClaimedMessage, 'id' | 'traceparent'> & { readonly attempt: number } & (
    | { readonly outcome: 'sent' }
    /** The message will be tried again. */
    | { readonly outcome: 'postponed'; readonly reason: unknown }
    | { readonly outcome: 'failed'; readonly reason: unknown }
  );

/**
 * Milliseconds until the next attempt: 5 s after the first, doubling up to an hour. Up to half is subtracted at random,
 * so that messages that failed together aren't retried together.
 *
 * @param random 0 to 1
 */
export function pauseAfter(attempt: number, random: number): number {
  const longest = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE);
  return Math.round(longest * (1 - random / 2));
}

/**
 * Delivers the messages that are due, one batch per call. Each message is recorded as sent before the next is sent, so
 * a killed worker leaves at most one message that is sent twice.
 */
export class DeliverMessages {
  constructor(
    private readonly messages: MessageQueue,
    private readonly sender: MessageSender,
    private readonly clock: Clock,
    private readonly cryptography: Cryptography,
    private readonly policy: DeliveryPolicy,
  ) {}

  /**
   * Claims a batch and sends it.
   *
   * @param onDelivery called after each attempt.
   * @param isStopping called before each message; if true, the rest of the batch is released.
   * @returns whether more messages may be due.
   */
  async execute(
    onDelivery: (delivery: Delivery) => void = () => undefined,
    isStopping: () => boolean = () => false,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    const { lease, batch } = this.policy;
    const now = this.clock.now();
    const until = later(now, lease);
    const claimed = await this.messages.claim({ limit: batch, now, until });
    // The attempt always ends within the lease, so that no other worker sends the message meanwhile.
    const timeout = Math.floor(lease / 3);
    let begun = 0;
    for (const message of claimed) {
      if (isStopping() || this.clock.now() + timeout >= until) break;
      begun += 1;
      onDelivery(await this.deliver(message, timeout));
    }
    for (const message of claimed.slice(begun)) await this.messages.release(message, this.clock.now());
    return { mayHaveMore: claimed.length === batch };
  }

  /** The number of queued messages, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.messages.backlog();
  }

  /** Calls `onQueued` when there may be something to deliver. Returns a function that stops watching. */
  watch(onQueued: () => void): () => Promise<void> {
    return this.messages.watch(onQueued);
  }

  private async deliver(message: ClaimedMessage, timeout: number): Promise<Delivery> {
    const { id, traceparent } = message;
    const attempt = message.failures + 1;
    try {
      await this.sender.send(message, timeout);
    } catch (reason) {
      if (attempt >= this.policy.attempts) {
        await this.messages.markFailed(message);
        return { id, traceparent, attempt, outcome: 'failed', reason };
      }
      const random = (this.cryptography.randomBytes(1)[0] ?? 0) / 255;
      await this.messages.postpone(message, later(this.clock.now(), pauseAfter(attempt, random)));
      return { id, traceparent, attempt, outcome: 'postponed', reason };
    }
    await this.messages.markSent(id);
    return { id, traceparent, attempt, outcome: 'sent' };
  }
}
