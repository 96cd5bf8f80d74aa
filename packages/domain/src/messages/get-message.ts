import type { AccountId } from '../accounts/account.js';
import { DomainError } from '../kernel/errors.js';
import type { Message, MessageId } from './message.js';
import type { MessagePorts } from './ports.js';

export class GetMessage {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  /** @throws DomainError `not_found`, also for another account's message. */
  async execute({ accountId, id }: { readonly accountId: AccountId; readonly id: string }): Promise<Message> {
    const message = await this.ports.messages.findById(accountId, id as MessageId);
    if (message === undefined) throw new DomainError('not_found', 'no message of this account has that id');
    return message;
  }
}
