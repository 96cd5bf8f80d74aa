import type { Account, AccountId } from './account.js';
import type { KeyPorts } from './ports.js';

export class GetAccount {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts'>) {}

  /** Undefined if there is no such account, or it is closed. */
  async execute(id: AccountId): Promise<Account | undefined> {
    return this.ports.accounts.findById(id);
  }
}
