import type { Clock, Instant } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { RequestCounter } from '../quotas/request-counter.js';
import { type ApiKey, type ApiKeyId, hasEnded, type OperationUse } from './api-key.js';
import { type DeprecatedUse, deprecatedUses } from './deprecation.js';
import { type ApiKeyRepository, isTheirs } from './api-key-repository.js';
import type { GetKeyInput } from './get-key.js';

export interface ShownKey {
  readonly key: ApiKey;
  /** The end of its ban; undefined if it isn't banned. */
  readonly bannedUntil: Instant | undefined;
  /** The operations that it has called, the latest first. */
  readonly operations: readonly OperationUse[];
  /** The deprecated ones of these that it still uses. */
  readonly deprecated: readonly DeprecatedUse[];
}

/** One of an account's keys, with what is known of its use. */
export class ShowKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly requests: RequestCounter,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` if the account has no such key. */
  async execute({ id, accountId }: GetKeyInput): Promise<ShownKey> {
    const now = this.clock.now();
    const found = await this.keys.findById(id as ApiKeyId);
    if (found === undefined || !isTheirs(found, accountId)) {
      throw new DomainError('not_found', `no API key has the id ${id}`);
    }
    const { key } = found;
    const isOver = hasEnded(key, now);
    const [called, bans] = await Promise.all([
      this.keys.listOperations([key.id]),
      isOver ? undefined : this.requests.bansOf([{ accountId, keyId: key.id }], now),
    ]);
    const operations = called.get(key.id) ?? [];
    const deprecated = isOver ? [] : deprecatedUses(operations, now);
    return { key, bannedUntil: bans?.get(key.id), operations, deprecated };
  }
}
