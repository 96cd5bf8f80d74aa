import type { AccountRepository } from './account-repository.js';
import { type AccountId, emailAddress } from './account.js';
import type { ApiKeyId } from './api-key.js';
import type { AccountKey, ApiKeyRepository, ListPart } from './api-key-repository.js';

export interface ListKeysInput extends ListPart<ApiKeyId> {
  readonly email?: string | undefined;
  readonly accountId?: AccountId | undefined;
}

export class ListKeys {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly keys: ApiKeyRepository,
  ) {}

  /**
   * All keys, or those of one account (by id or address), or a part of them, ascending by id. Empty if there is no such
   * account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute(input: ListKeysInput = {}): Promise<readonly AccountKey[]> {
    if (input.email === undefined) return this.keys.list(input.accountId, input);
    const account = await this.accounts.findByEmail(emailAddress(input.email));
    return account === undefined ? [] : this.keys.list(account.id, input);
  }
}
