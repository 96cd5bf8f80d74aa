import { decideRetry, type MessageId } from './message.js';
import type { MessageQueue } from './message-queue.js';

export class RetryMessage {
  constructor(private readonly messages: MessageQueue) {}

  /** @throws DomainError `not_found` or `message_not_failed` */
  async execute(input: { readonly id: string }): Promise<void> {
    const id = input.id as MessageId;
    await this.messages.retry(id, (state) => decideRetry(state, { id }));
  }
}
