import { type Attempt, DeliverBatch, type DeliveryOptions } from '../deliveries/deliver-batch.js';
import type { MessageId } from './message.js';
import type { ClaimedMessage } from './message-queue.js';
import type { MessagePorts } from './ports.js';

type AboutMessage = Pick<ClaimedMessage, 'id' | 'traceparent' | 'requestId'>;

/** One attempt to deliver a message. */
export type Delivery = Attempt<AboutMessage>;

export class DeliverMessages extends DeliverBatch<MessageId, ClaimedMessage, AboutMessage> {
  constructor(
    protected override readonly ports: Omit<MessagePorts, 'accounts'>,
    { delivery }: DeliveryOptions,
  ) {
    super(ports.messages, ports, delivery);
  }

  protected override about({ id, traceparent, requestId }: ClaimedMessage): AboutMessage {
    return { id, traceparent, requestId };
  }

  protected override async send(message: ClaimedMessage, timeout: number): Promise<boolean> {
    await this.ports.messageSender.send(message, timeout);
    return true;
  }
}
