import { DomainError } from '../kernel/errors.js';
import type { MessageId } from './message.js';
import type { MessageQueue } from './message-queue.js';

export class RetryMessage {
  constructor(private readonly messages: MessageQueue) {}

  /**
   * Queues a message again that was given up, with all its attempts.
   *
   * @throws DomainError `not_found`, or `message_not_failed` where it is queued or sent.
   */
  async execute({ id }: { readonly id: string }): Promise<void> {
    const status = await this.messages.retry(id as MessageId);
    if (status === undefined) throw new DomainError('not_found', `no message has the id ${id}`);
    if (status !== 'failed')
      throw new DomainError('message_not_failed', `message ${id} has not failed: it is ${status}`);
  }
}
