import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { ApiKey, ApiKeyId } from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';

export class RevokeKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<ApiKey> {
    const revoked = await this.keys.revoke(id as ApiKeyId, this.clock.now());
    if (revoked === undefined) throw new DomainError('not_found', `no API key has the id ${id}`);
    return revoked;
  }
}
