import { type ApiKey, type ApiKeyId, decideRenaming, type KeyRenaming, keyName } from './api-key.js';
import type { KeyPorts } from './ports.js';

export class RenameKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys'>) {}

  /** @throws DomainError `invalid_parameter`, or `not_found` if the account has no such key. */
  async execute(input: KeyRenaming): Promise<ApiKey> {
    const command = { ...input, name: keyName(input.name) };
    return this.ports.apiKeys.change(command.id as ApiKeyId, (key) => decideRenaming(key, command));
  }
}
