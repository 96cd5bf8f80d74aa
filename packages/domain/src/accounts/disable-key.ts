import type { Clock } from '../kernel/clock.js';
import { type ApiKey, type ApiKeyId, decideDisabling, type KeyDisabling } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';

/** Disables a key, or enables it again. */
export class DisableKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` if there is no such key, or it has ended. */
  async execute(command: KeyDisabling): Promise<ApiKey> {
    const now = this.clock.now();
    return this.keys.change(command.id as ApiKeyId, (key) => decideDisabling(key, command, now));
  }
}
