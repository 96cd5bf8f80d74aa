import type { Clock } from '../kernel/clock.js';
import { type ApiKey, type ApiKeyId, hasEnded, type OperationUse } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';

/** The operations that keys call, the latest first. */
export class ListOperations {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Those of the given keys that have called any. A key that has ended calls none. */
  async execute(keys: readonly ApiKey[]): Promise<ReadonlyMap<ApiKeyId, readonly OperationUse[]>> {
    const now = this.clock.now();
    return this.keys.listOperations(keys.filter((key) => !hasEnded(key, now)).map(({ id }) => id));
  }
}
