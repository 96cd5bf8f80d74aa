import type { AccountId } from '../accounts/account.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type Message, messageText, newMessageId } from './message.js';
import type { MessageQueue } from './message-queue.js';

export interface QueueMessageInput {
  readonly accountId: AccountId;
  readonly text: string;
  readonly traceparent?: string | undefined;
}

export class QueueMessage {
  constructor(
    private readonly messages: MessageQueue,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ accountId, text, traceparent }: QueueMessageInput): Promise<Message> {
    return this.messages.add({
      id: newMessageId(this.cryptography),
      accountId,
      text: messageText(text),
      createdAt: this.clock.now(),
      traceparent,
    });
  }
}
