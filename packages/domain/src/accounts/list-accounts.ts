import type { Account } from './account.js';
import type { AccountRepository } from './account-repository.js';

export class ListAccounts {
  constructor(private readonly accounts: AccountRepository) {}

  /** All accounts that are open, ascending by id. */
  async execute(): Promise<readonly Account[]> {
    return this.accounts.list();
  }
}
