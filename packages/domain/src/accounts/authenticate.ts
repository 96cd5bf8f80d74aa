import { andThen, type Awaitable } from '../kernel/awaitable.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import { environmentOf, type KeyEnvironment, keyState, unrecordedUse } from './api-key.js';
import type { AccountKey, ApiKeyRepository } from './api-key-repository.js';

/** Who a key's text stands for. */
export class Authenticate {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /** @throws DomainError `invalid_api_key`, `expired_api_key` or `revoked_api_key`; never says which part was wrong. */
  async execute(text: string): Promise<AccountKey> {
    return this.admit(this.hashOf(text));
  }

  /**
   * What a key is known by, 64 hexadecimal digits: whoever meets the same text again needn't ask again.
   *
   * @throws DomainError `invalid_api_key` where the text can't be a key of this environment.
   */
  hashOf(text: string): string {
    const environment = environmentOf(text);
    if (environment === undefined) throw unknownKey();
    if (environment !== this.environment) {
      throw new DomainError(
        'invalid_api_key',
        `the API key is for the ${environment} environment, this is ${this.environment}`,
      );
    }
    return this.cryptography.sha256(text);
  }

  /**
   * As `execute`, by the hash.
   *
   * @param last whom it stood for before, where that is known: while it is current nobody is asked.
   */
  admit(hash: string, last?: AccountKey): Awaitable<AccountKey> {
    if (last !== undefined && this.keys.isCurrent(last)) return this.judge(last);
    return andThen(this.keys.findByHash(hash), (found) => this.judge(found));
  }

  private judge(found: AccountKey | undefined): AccountKey {
    if (found === undefined) throw unknownKey();
    const now = this.clock.now();
    const state = keyState(found.key, now);
    if (state === 'revoked') throw new DomainError('revoked_api_key', 'the API key has been revoked');
    if (state === 'expired') throw new DomainError('expired_api_key', 'the API key has expired');
    const usedAt = unrecordedUse(found.key, now);
    if (usedAt !== undefined) this.keys.recordUse(found.key.id, usedAt);
    return found;
  }
}

function unknownKey(): DomainError {
  return new DomainError('invalid_api_key', 'the API key is not valid');
}
