import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import { type ApiKey, type ApiKeyId, keyName } from './api-key.js';
import { type ApiKeyRepository, isTheirs } from './api-key-repository.js';

export interface RenameKeyInput {
  readonly id: bigint;
  /** The account that must own the key. */
  readonly accountId: AccountId;
  /** Undefined: no name. */
  readonly name: string | undefined;
}

export class RenameKey {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** @throws DomainError `invalid_parameter`, or `not_found` if the account has no such key. */
  async execute({ id, accountId, name }: RenameKeyInput): Promise<ApiKey> {
    const valid = keyName(name);
    const found = await this.keys.findById(id as ApiKeyId);
    if (found !== undefined && isTheirs(found, accountId)) {
      const renamed = await this.keys.rename(found.key.id, valid);
      if (renamed !== undefined) return renamed;
    }
    throw new DomainError('not_found', `no API key has the id ${id}`);
  }
}
