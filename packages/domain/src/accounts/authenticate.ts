import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import { environmentOf, type KeyEnvironment, keyState, unrecordedUse } from './api-key.js';
import type { AccountKey, ApiKeyRepository } from './api-key-repository.js';
import type { Caller } from './caller.js';
import { limitsOf } from './plan.js';

/** Finds the caller of a key's text. */
export class Authenticate {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /** @throws DomainError `invalid_api_key`, `expired_api_key` or `revoked_api_key`; never says which part was wrong. */
  async execute(text: string): Promise<Caller> {
    return this.admit(await this.keys.findByHash(this.hashOf(text)));
  }

  private hashOf(text: string): string {
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

  private admit(found: AccountKey | undefined): Caller {
    if (found === undefined) throw unknownKey();
    const now = this.clock.now();
    const state = keyState(found.key, now);
    if (state === 'revoked') throw new DomainError('revoked_api_key', 'the API key has been revoked');
    if (state === 'expired') throw new DomainError('expired_api_key', 'the API key has expired');
    const usedAt = unrecordedUse(found.key, now);
    if (usedAt !== undefined) this.keys.recordUse(found.key.id, usedAt);
    const { account, key } = found;
    return { account, key, accountId: account.id, keyId: key.id, plan: account.plan, limits: limitsOf(account.plan) };
  }
}

function unknownKey(): DomainError {
  return new DomainError('invalid_api_key', 'the API key is not valid');
}
