import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import type { ApiKey, ApiKeyId } from './api-key.js';
import { type ApiKeyRepository, isTheirs } from './api-key-repository.js';

export interface RevokeKeyInput {
  readonly id: bigint;
  /** The account that must own the key. Default: any account. */
  readonly accountId?: AccountId | undefined;
}

export class RevokeKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async execute({ id, accountId }: RevokeKeyInput): Promise<ApiKey> {
    const found = await this.keys.findById(id as ApiKeyId);
    if (found !== undefined && isTheirs(found, accountId)) {
      const revoked = await this.keys.revoke(found.key.id, this.clock.now());
      if (revoked !== undefined) return revoked;
    }
    throw new DomainError('not_found', `no API key has the id ${id}`);
  }
}
