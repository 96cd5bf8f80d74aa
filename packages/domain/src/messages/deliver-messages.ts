import { type Attempt, DeliverBatch, type DeliveryPolicy } from '../deliveries/deliver-batch.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { MessageId } from './message.js';
import type { ClaimedMessage, MessageQueue } from './message-queue.js';
import type { MessageSender } from './message-sender.js';

type AboutMessage = Pick<ClaimedMessage, 'id' | 'traceparent' | 'requestId'>;

/** One attempt to deliver a message. */
export type Delivery = Attempt<AboutMessage>;

export class DeliverMessages extends DeliverBatch<MessageId, ClaimedMessage, AboutMessage> {
  constructor(
    messages: MessageQueue,
    private readonly sender: MessageSender,
    clock: Clock,
    cryptography: Cryptography,
    policy: DeliveryPolicy,
  ) {
    super(messages, clock, cryptography, policy);
  }

  protected override about({ id, traceparent, requestId }: ClaimedMessage): AboutMessage {
    return { id, traceparent, requestId };
  }

  protected override async send(message: ClaimedMessage, timeout: number): Promise<boolean> {
    await this.sender.send(message, timeout);
    return true;
  }
}
