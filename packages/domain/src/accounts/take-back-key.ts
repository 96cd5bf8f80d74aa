import type { Clock } from '../kernel/clock.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { IssuedKey } from './issue-key.js';

export class TakeBackKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Revokes a key whose text could not be shown to anybody. The key that it replaced continues as before. */
  async execute({ key, previous }: IssuedKey): Promise<void> {
    await this.keys.takeBack(key.id, this.clock.now(), previous);
  }
}
