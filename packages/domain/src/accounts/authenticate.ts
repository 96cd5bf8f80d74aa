import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import type { KeyRequester } from '../limits/request-counter.js';
import { type KeyState, keyState } from './api-key.js';
import type { AccountKey, ApiKeyRepository } from './api-key-repository.js';
import { environmentOf, type KeyEnvironment } from './api-key-text.js';
import type { Caller } from './caller.js';
import { limitsOf } from './plan.js';

const REASONS = {
  expired: 'the API key has expired',
  revoked: 'the API key has been revoked',
  disabled: 'the API key is disabled',
} as const satisfies Readonly<Record<Exclude<KeyState, 'active'>, string>>;

/** The key was issued, but doesn't work. Its account may see the refusal. */
export class UnusableKey extends DomainError {
  readonly owner: KeyRequester;

  constructor(state: keyof typeof REASONS, { account, key }: AccountKey) {
    super(`${state}_api_key`, REASONS[state]);
    this.owner = { accountId: account.id, keyId: key.id };
  }
}

/** Finds the caller of a key's text. */
export class Authenticate {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /** @throws DomainError `invalid_api_key`, never says which part was wrong; UnusableKey. */
  async execute(text: string): Promise<Caller> {
    const environment = environmentOf(text);
    if (environment !== undefined && environment !== this.environment) {
      throw new DomainError(
        'invalid_api_key',
        `the API key is for the ${environment} environment, this is ${this.environment}`,
      );
    }
    const found = environment && (await this.keys.findByHash(this.cryptography.sha256(text)));
    if (!found) throw new DomainError('invalid_api_key', 'the API key is not valid');
    const state = keyState(found.key, this.clock.now());
    if (state !== 'active') throw new UnusableKey(state, found);
    const { account, key } = found;
    return { account, key, accountId: account.id, keyId: key.id, plan: account.plan, limits: limitsOf(account.plan) };
  }
}
