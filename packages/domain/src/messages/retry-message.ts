import { decideRetry, type MessageId } from './message.js';
import type { MessagePorts } from './ports.js';

export class RetryMessage {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** @throws DomainError `not_found` or `message_not_failed` */
  async execute(input: { readonly id: string }): Promise<void> {
    const id = input.id as MessageId;
    await this.ports.messages.retry(id, (state) => decideRetry(state, { id }));
  }
}
