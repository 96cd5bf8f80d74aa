import type { Clock } from '../kernel/clock.js';
import { decideTakeBack } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import type { IssuedKey } from './issue-key.js';

export class TakeBackKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Revokes a key whose text could not be shown to anybody. The key that it replaced continues as before. */
  async execute({ key }: Pick<IssuedKey, 'key'>): Promise<void> {
    const now = this.clock.now();
    await this.keys.takeBack(key.id, (state) => decideTakeBack(state, key, now));
  }
}
