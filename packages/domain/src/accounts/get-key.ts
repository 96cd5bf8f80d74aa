import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import type { ApiKey, ApiKeyId } from './api-key.js';
import { type ApiKeyRepository, isTheirs } from './api-key-repository.js';

export interface GetKeyInput {
  readonly id: bigint;
  readonly accountId: AccountId;
}

export class GetKey {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** @throws DomainError `not_found` if the account has no such key. */
  async execute({ id, accountId }: GetKeyInput): Promise<ApiKey> {
    const found = await this.keys.findById(id as ApiKeyId);
    if (found === undefined || !isTheirs(found, accountId)) {
      throw new DomainError('not_found', `no API key has the id ${id}`);
    }
    return found.key;
  }
}
