import { type ApiKey, type ApiKeyId, hasEnded, type OperationUse } from './api-key.js';
import type { KeyPorts } from './ports.js';

/** The operations that keys call, the latest first. */
export class ListOperations {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'clock'>) {}

  /** Those of the given keys that have called any. A key that has ended calls none. */
  async execute(keys: readonly ApiKey[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const now = this.ports.clock.now();
    return this.ports.apiKeys.listOperations(keys.filter((key) => !hasEnded(key, now)).map(({ id }) => id));
  }
}
