import type { Account, AccountId } from './account.js';
import type { ListPart } from './api-key-repository.js';
import type { KeyPorts } from './ports.js';

export class ListAccounts {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /** The open accounts, or a part of them, ascending by id. */
  async execute(part?: ListPart<AccountId>): Promise<readonly Account[]> {
    return this.ports.accounts.list(part);
  }
}
