import { decideRollback } from './api-key.js';
import type { IssuedKey } from './issue-key.js';
import type { KeyPorts } from './ports.js';

export class RollBackKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** Revokes a key whose text could not be shown to anybody. The key that it replaced continues as before. */
  async execute({ key }: Pick<IssuedKey, 'key'>): Promise<void> {
    const now = this.ports.clock.now();
    await this.ports.apiKeys.rollBack(key.id, (state) => decideRollback(state, key, now));
  }
}
