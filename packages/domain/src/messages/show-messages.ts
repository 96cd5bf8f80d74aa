import type { AccountId } from '../accounts/account.js';
import { type Page, type PagePlace, readPage } from '../kernel/page.js';
import type { Message } from './message.js';
import type { MessagePlace } from './message-queue.js';
import type { MessagePorts } from './ports.js';

export interface ShowMessagesInput extends PagePlace<MessagePlace> {
  readonly accountId: AccountId;
}

/** A page of an account's own messages, newest first. */
export class ShowMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'messages'>) {}

  async execute({ accountId, ...place }: ShowMessagesInput): Promise<Page<Message, MessagePlace>> {
    return readPage<Message, MessagePlace>(
      place,
      ({ createdAt, id }) => ({ createdAt, id }),
      (part) => this.ports.messages.listOwn({ accountId, ...part }),
    );
  }
}
