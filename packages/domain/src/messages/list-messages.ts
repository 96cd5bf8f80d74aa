import { emailAddress } from '../accounts/account.js';
import type { AccountRepository } from '../accounts/account-repository.js';
import type { AccountMessage, MessagePlace, MessageQueue } from './message-queue.js';

export type ListMessagesInput = {
  readonly after?: MessagePlace | undefined;
  readonly limit?: number | undefined;
} & (
  | { readonly email: string; readonly status?: 'failed' | undefined }
  | { readonly email?: string | undefined; readonly status: 'failed' }
);

export class ListMessages {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly messages: MessageQueue,
  ) {}

  /**
   * The messages of an account, those that have failed, or the failed ones of an account, the oldest first; none where
   * there is no such account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute({ email, ...query }: ListMessagesInput): Promise<readonly AccountMessage[]> {
    if (email === undefined) return this.messages.list({ ...query, status: 'failed' });
    const account = await this.accounts.findByEmail(emailAddress(email));
    return account === undefined ? [] : this.messages.list({ ...query, accountId: account.id });
  }
}
