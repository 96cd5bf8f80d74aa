import type { AccountId } from '../accounts/account.js';
import { DomainError } from '../kernel/errors.js';
import type { Message, MessageId } from './message.js';
import type { MessageQueue } from './message-queue.js';

export interface GetMessageInput {
  readonly accountId: AccountId;
  readonly id: string;
}

export class GetMessage {
  constructor(private readonly messages: MessageQueue) {}

  /** @throws DomainError `not_found`, also for another account's message. */
  async execute({ accountId, id }: GetMessageInput): Promise<Message> {
    const message = await this.messages.findById(accountId, id as MessageId);
    if (message === undefined) throw new DomainError('not_found', 'no message of this account has that id');
    return message;
  }
}
