import type { ClaimedMessage, MessageQueue, MessageSender } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import type { SmtpDelivery } from './smtp-message-sender.js';
import { TypeOrmMessageQueue } from './typeorm-message-queue.js';
import { WritingMessageSender } from './writing-message-sender.js';

/** How messages are delivered: by e-mail, or by telling a function. */
export type Delivery = SmtpDelivery | ((message: ClaimedMessage) => void);

export interface Messages {
  readonly messages: MessageQueue;
  readonly messageSender: MessageSender;
  readonly close: () => Promise<void>;
}

/** Messages and their delivery; a process that neither watches nor sends opens no connection for them. */
export async function openMessages(
  dataSource: DataSource,
  connection: DatabaseConnection,
  delivery: Delivery | undefined,
): Promise<Messages> {
  const messages = new TypeOrmMessageQueue(dataSource, connection);
  if (typeof delivery !== 'object') {
    const messageSender = new WritingMessageSender(delivery ?? refuse);
    return { messages, messageSender, close: () => messages.close() };
  }
  // Loaded by whoever uses it alone: it takes a tenth of a second.
  const { SmtpMessageSender } = await import('./smtp-message-sender.js');
  const messageSender = new SmtpMessageSender(delivery);
  return {
    messages,
    messageSender,
    async close() {
      await messages.close();
      messageSender.close();
    },
  };
}

function refuse(): never {
  throw new Error('this process delivers no messages');
}
