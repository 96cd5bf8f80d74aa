import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import { type ApiKey, hasEnded } from './api-key.js';
import { type ApiKeyRepository, findTheirs } from './api-key-repository.js';

export interface DisableKeyInput {
  readonly id: bigint;
  /** The account that must own the key. Default: any account. */
  readonly accountId?: AccountId | undefined;
  /** Whether the key is disabled from now on, or enabled. */
  readonly isDisabled: boolean;
}

/** Disables a key, or enables it again. */
export class DisableKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` if there is no such key, or it has ended. */
  async execute({ id, accountId, isDisabled }: DisableKeyInput): Promise<ApiKey> {
    const now = this.clock.now();
    const key = await findTheirs(this.keys, id, accountId);
    if (key !== undefined && !hasEnded(key, now)) {
      const changed = await this.keys.disable(key.id, isDisabled ? now : undefined);
      if (changed !== undefined) return changed;
    }
    throw new DomainError('not_found', `no API key that still works has the id ${id}`);
  }
}
