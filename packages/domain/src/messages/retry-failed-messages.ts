import type { Instant } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId } from './message.js';
import type { MessagePlace } from './message-queue.js';
import type { MessagePorts } from './ports.js';
import { RetryMessage } from './retry-message.js';

/** Messages read at a time. */
const PORTION = 100;

export class RetryFailedMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** Queues every failed message again that was written at that instant or later. Returns the number that it queued. */
  async execute({ since }: { readonly since: Instant }): Promise<number> {
    let retried = 0;
    // Each message is retried once, so that one that fails again meanwhile doesn't make this endless.
    let after: MessagePlace | undefined = { createdAt: since, id: '' as MessageId };
    while (after !== undefined) {
      const failed = await this.ports.messages.list({ status: 'failed', after, limit: PORTION });
      for (const { message } of failed) {
        if (await this.retry(message.id)) retried += 1;
      }
      after = failed.at(-1)?.message;
    }
    return retried;
  }

  /** False if another operator was first, or the message is purged. */
  private async retry(id: MessageId): Promise<boolean> {
    try {
      await new RetryMessage(this.ports).execute({ id });
      return true;
    } catch (error) {
      if (error instanceof DomainError && ['message_not_failed', 'not_found'].includes(error.code)) return false;
      throw error;
    }
  }
}
