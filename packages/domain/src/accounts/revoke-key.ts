import { type ApiKey, type ApiKeyId, decideRevocation, type KeyCommand } from './api-key.js';
import type { KeyPorts } from './ports.js';

export class RevokeKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute(command: KeyCommand): Promise<ApiKey> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.change(command.id as ApiKeyId, (key) => decideRevocation(key, command, now));
  }
}
