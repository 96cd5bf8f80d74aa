import { andThen, type Awaitable } from '../kernel/awaitable.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import { environmentOf, type KeyEnvironment, judgedUntil, keyState, unrecordedUse } from './api-key.js';
import type { AccountKey, ApiKeyRepository } from './api-key-repository.js';
import { Caller } from './caller.js';

/** Who a key's text stands for. */
export class Authenticate {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /** @throws DomainError `invalid_api_key`, `expired_api_key` or `revoked_api_key`; never says which part was wrong. */
  async execute(text: string): Promise<Caller> {
    return this.admit(text);
  }

  /** As `execute`, at once where the answer is there; then it throws at once, too. */
  admit(text: string): Awaitable<Caller> {
    return this.find(this.hashOf(text));
  }

  /** Whom the text that let it in stands for now: the same where nothing has changed. Throws as `admit`. */
  admitAgain(last: Caller): Awaitable<Caller> {
    if (!this.keys.isCurrent(last.found)) return this.find(last.key.hash);
    return this.clock.now() < last.judgedUntil ? last : this.judge(last.found);
  }

  private find(hash: string): Awaitable<Caller> {
    return andThen(this.keys.findByHash(hash), (found) => this.judge(found));
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

  private judge(found: AccountKey | undefined): Caller {
    if (found === undefined) throw unknownKey();
    const now = this.clock.now();
    const state = keyState(found.key, now);
    if (state === 'revoked') throw new DomainError('revoked_api_key', 'the API key has been revoked');
    if (state === 'expired') throw new DomainError('expired_api_key', 'the API key has expired');
    const usedAt = unrecordedUse(found.key, now);
    if (usedAt !== undefined) this.keys.recordUse(found.key.id, usedAt);
    return new Caller(found, judgedUntil(found.key, now));
  }
}

function unknownKey(): DomainError {
  return new DomainError('invalid_api_key', 'the API key is not valid');
}
