import type { Account, AccountId } from './account.js';
import type { AccountRepository } from './account-repository.js';
import type { ListPart } from './api-key-repository.js';

export class ListAccounts {
  constructor(private readonly accounts: AccountRepository) {}

  /** The open accounts, or a part of them, ascending by id. */
  async execute(part?: ListPart<AccountId>): Promise<readonly Account[]> {
    return this.accounts.list(part);
  }
}
