import type { Clock } from '../kernel/clock.js';
import { type ApiKey, type ApiKeyId, decideRevocation, type KeyCommand } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';

export class RevokeKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async execute(command: KeyCommand): Promise<ApiKey> {
    const now = this.clock.now();
    return this.keys.change(command.id as ApiKeyId, (key) => decideRevocation(key, command, now));
  }
}
