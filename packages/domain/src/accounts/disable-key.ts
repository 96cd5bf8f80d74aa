import { type ApiKey, type ApiKeyId, decideDisabling, type KeyDisabling } from './api-key.js';
import type { KeyPorts } from './ports.js';

/** Disables a key, or enables it again. */
export class DisableKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** @throws DomainError `not_found` if there is no such key, or it has ended. */
  async execute(command: KeyDisabling): Promise<ApiKey> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.change(command.id as ApiKeyId, (key) => decideDisabling(key, command, now));
  }
}
