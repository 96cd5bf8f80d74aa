import type { Account, AccountId } from './account.js';
import type { AccountRepository } from './account-repository.js';

export class GetAccount {
  constructor(private readonly accounts: AccountRepository) {}

  /** Undefined if there is no such account, or it is closed. */
  async execute(id: AccountId): Promise<Account | undefined> {
    return this.accounts.findById(id);
  }
}
