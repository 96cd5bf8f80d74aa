import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import type { ApiKey } from './api-key.js';
import { type ApiKeyRepository, findTheirs } from './api-key-repository.js';

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
    const key = await findTheirs(this.keys, id, accountId);
    const revoked = key && (await this.keys.revoke(key.id, this.clock.now()));
    if (revoked === undefined) throw new DomainError('not_found', `no API key has the id ${id}`);
    return revoked;
  }
}
