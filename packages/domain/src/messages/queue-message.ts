import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Transaction } from '../kernel/transaction.js';
import { type Message, messageText, type NewMessage, newMessageId } from './message.js';
import type { MessageQueue } from './message-queue.js';

export type QueueMessageInput = Pick<NewMessage, 'accountId' | 'text' | 'traceparent' | 'requestId'>;

export class QueueMessage {
  constructor(
    private readonly messages: MessageQueue,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ text, ...input }: QueueMessageInput, transaction?: Transaction): Promise<Message> {
    const id = newMessageId(this.cryptography);
    return this.messages.add({ ...input, id, text: messageText(text), createdAt: this.clock.now() }, transaction);
  }
}
