import { type AccountId, emailAddress } from './account.js';
import type { ApiKeyId } from './api-key.js';
import type { AccountKey, ListPart } from './api-key-repository.js';
import type { KeyPorts } from './ports.js';

export interface ListKeysInput extends ListPart<ApiKeyId> {
  readonly email?: string | undefined;
  readonly accountId?: AccountId | undefined;
}

export class ListKeys {
  constructor(private readonly ports: Pick<KeyPorts, 'accounts' | 'apiKeys'>) {}

  /**
   * All keys, or those of one account (by id or address), or a part of them, ascending by id. Empty if there is no such
   * account.
   *
   * @throws DomainError `invalid_parameter`
   */
  async execute(input: ListKeysInput = {}): Promise<readonly AccountKey[]> {
    if (input.email === undefined) return this.ports.apiKeys.list(input.accountId, input);
    const account = await this.ports.accounts.findByEmail(emailAddress(input.email));
    return account === undefined ? [] : this.ports.apiKeys.list(account.id, input);
  }
}
