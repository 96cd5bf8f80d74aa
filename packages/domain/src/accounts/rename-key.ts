import { type ApiKey, type ApiKeyId, decideRenaming, type KeyRenaming, keyName } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';

export class RenameKey {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** @throws DomainError `invalid_parameter`, or `not_found` if the account has no such key. */
  async execute(input: KeyRenaming): Promise<ApiKey> {
    const command = { ...input, name: keyName(input.name) };
    return this.keys.change(command.id as ApiKeyId, (key) => decideRenaming(key, command));
  }
}
