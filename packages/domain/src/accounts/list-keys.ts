import type { AccountRepository } from './account-repository.js';
import { emailAddress } from './account.js';
import type { AccountKey, ApiKeyRepository } from './api-key-repository.js';

export class ListKeys {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly keys: ApiKeyRepository,
  ) {}

  /**
   * All keys, or those of one address; none where nobody has it.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute(input: { readonly email?: string | undefined } = {}): Promise<readonly AccountKey[]> {
    if (input.email === undefined) return this.keys.list();
    const account = await this.accounts.findByEmail(emailAddress(input.email));
    return account === undefined ? [] : this.keys.list(account.id);
  }
}
