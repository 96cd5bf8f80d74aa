import type { Instant } from '../kernel/clock.js';
import type { AccountId } from './account.js';
import { type ApiKey, type ApiKeyId, hasEnded, type KeyCommand, type OperationUse, requireTheirs } from './api-key.js';
import type { KeyPorts } from './ports.js';

export interface ShownKey {
  readonly key: ApiKey;
  /** The end of its ban; undefined if it isn't banned. */
  readonly bannedUntil: Instant | undefined;
  /** The operations that it has called, the latest first. */
  readonly operations: readonly OperationUse[];
}

/** One of an account's keys, with what is known of its use. */
export class ShowKey {
  constructor(private readonly ports: Pick<KeyPorts, 'apiKeys' | 'requests' | 'clock'>) {}

  /** @throws DomainError `not_found` if the account has no such key. */
  async execute({ id, accountId }: KeyCommand & { readonly accountId: AccountId }): Promise<ShownKey> {
    const now = this.ports.clock.now();
    const key = requireTheirs((await this.ports.apiKeys.findById(id as ApiKeyId))?.key, { id, accountId });
    const [called, bans] = await Promise.all([
      this.ports.apiKeys.listOperations([key.id]),
      hasEnded(key, now) ? undefined : this.ports.requests.bansOf([{ accountId, keyId: key.id }], now),
    ]);
    return { key, bannedUntil: bans?.get(key.id), operations: called.get(key.id) ?? [] };
  }
}
