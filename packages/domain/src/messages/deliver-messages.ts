import type { Backlog } from '../deliveries/delivery-queue.js';
import {
  deliverBatch,
  type DeliveryParts,
  type DeliveryPolicy,
  type AttemptOutcome,
} from '../deliveries/deliver-batch.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { MessageId } from './message.js';
import type { ClaimedMessage, MessageQueue } from './message-queue.js';
import type { MessageSender } from './message-sender.js';

/** One attempt to deliver a message. */
export type Delivery = Pick<ClaimedMessage, 'id' | 'traceparent' | 'requestId'> & {
  readonly attempt: number;
} & AttemptOutcome;

/** Delivers the messages that are due, one batch per call. */
export class DeliverMessages {
  private readonly parts: DeliveryParts<MessageId, ClaimedMessage>;

  constructor(
    private readonly messages: MessageQueue,
    sender: MessageSender,
    clock: Clock,
    cryptography: Cryptography,
    policy: DeliveryPolicy,
  ) {
    const send = async (message: ClaimedMessage, timeout: number) => {
      await sender.send(message, timeout);
      return true;
    };
    this.parts = { queue: messages, clock, cryptography, policy, send };
  }

  /**
   * Claims a batch and sends it.
   *
   * @param onDelivery called after each attempt.
   * @param isStopping called before each message; if true, the rest of the batch is released.
   * @param onMore called before the first message is sent, if more may be due.
   * @returns whether more messages may be due.
   */
  async execute(
    onDelivery: (delivery: Delivery) => void = () => undefined,
    isStopping: () => boolean = () => false,
    onMore: () => void = () => undefined,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    return deliverBatch(
      this.parts,
      ({ id, traceparent, requestId }, attempt, outcome) => {
        onDelivery({ id, traceparent, requestId, attempt, ...outcome });
      },
      isStopping,
      onMore,
    );
  }

  /** The number of queued messages, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.messages.backlog();
  }

  /** Calls `onQueued` when there may be something to deliver. Returns a function that stops watching. */
  watch(onQueued: () => void): () => Promise<void> {
    return this.messages.watch(onQueued);
  }
}
