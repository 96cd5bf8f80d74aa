import type { Transaction } from '../kernel/transaction.js';
import { type Message, messageText, type NewMessage, newMessageId } from './message.js';
import type { MessagePorts } from './ports.js';

export type QueueMessageInput = Pick<NewMessage, 'accountId' | 'text' | 'traceparent' | 'requestId'>;

export class QueueMessage {
  constructor(private readonly ports: Pick<MessagePorts, 'messages' | 'cryptography' | 'clock'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ text, ...input }: QueueMessageInput, transaction?: Transaction): Promise<Message> {
    const id = newMessageId(this.ports.cryptography);
    return this.ports.messages.add(
      { ...input, id, text: messageText(text), createdAt: this.ports.clock.now() },
      transaction,
    );
  }
}
