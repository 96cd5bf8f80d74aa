import type { Clock } from '../kernel/clock.js';
import { type ApiKey, type ApiKeyId, hasEnded } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import { type DeprecatedUse, deprecatedUses } from './deprecation.js';

/** The deprecated operations that keys still use. */
export class ShowDeprecatedUses {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Those of the given keys that use any. A key that has ended uses none. */
  async execute(keys: readonly ApiKey[]): Promise<ReadonlyMap<ApiKeyId, readonly DeprecatedUse[]>> {
    const now = this.clock.now();
    const operations = await this.keys.listOperations(keys.filter((key) => !hasEnded(key, now)).map(({ id }) => id));
    const uses = [...operations].map(([id, each]) => [id, deprecatedUses(each, now)] as const);
    return new Map(uses.filter(([, each]) => each.length > 0));
  }
}
