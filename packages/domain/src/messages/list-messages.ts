import { emailAddress } from '../accounts/account.js';
import type { AccountMessage, MessagePlace } from './message-queue.js';
import type { MessagePorts } from './ports.js';

export type ListMessagesInput = {
  readonly after?: MessagePlace | undefined;
  readonly limit?: number | undefined;
} & (
  | { readonly email: string; readonly status?: 'failed' | undefined }
  | { readonly email?: string | undefined; readonly status: 'failed' }
);

export class ListMessages {
  constructor(private readonly ports: Pick<MessagePorts, 'accounts' | 'messages'>) {}

  /**
   * The messages of an account, all that have failed, or the failed ones of an account, the oldest first. Empty if there is
   * no such account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute({ email, ...query }: ListMessagesInput): Promise<readonly AccountMessage[]> {
    if (email === undefined) return this.ports.messages.list({ ...query, status: 'failed' });
    const account = await this.ports.accounts.findByEmail(emailAddress(email));
    return account === undefined ? [] : this.ports.messages.list({ ...query, accountId: account.id });
  }
}
