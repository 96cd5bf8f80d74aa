import { type Clock, HOUR, type Instant, instant, later } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError, invalid } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import { type KeyEnvironment, MOST_ACTIVE_KEYS, MOST_KEYS_A_DAY } from './api-key.js';
import { type ApiKeyRepository, findTheirs } from './api-key-repository.js';
import { draftKey, type IssuedKey } from './issue-key.js';

const DEFAULT_OVERLAP = 24 * HOUR;
const MOST_OVERLAP = 30 * DEFAULT_OVERLAP;

export interface RotateKeyInput {
  readonly id: bigint;
  /** The account that must own the key. Default: any account. */
  readonly accountId?: AccountId | undefined;
  /** The `credentialVersion` that the account must still have, for a request made in a session. Default: any. */
  readonly credentialVersion?: number | undefined;
  /** How long both keys work, in milliseconds: 0 to 30 days. Default: 24 hours. */
  readonly overlap?: number | undefined;
}

export class RotateKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /**
   * A new key with the old one's name, scopes and expiry. The old one works until the overlap ends.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if no active key that isn't rotated yet has that id, or
   * `too_many_keys` if the account would have more than 25 active keys or has made 1,000 today.
   */
  async execute(input: RotateKeyInput): Promise<IssuedKey> {
    const overlap = input.overlap ?? DEFAULT_OVERLAP;
    if (!(overlap >= 0 && overlap <= MOST_OVERLAP)) throw invalid('overlap', 'must be 0 to 30 days');
    const now = this.clock.now();
    const old = await findTheirs(this.keys, input.id, input.accountId);
    if (old !== undefined) {
      const { accountId, name, scopes, expiresAt } = old;
      const { text, newKey } = draftKey(
        { accountId, name, scopes, createdAt: now, expiresAt },
        this.environment,
        this.cryptography,
      );
      const key = await this.keys.replace(
        old.id,
        newKey,
        earlier(later(now, overlap), expiresAt),
        MOST_ACTIVE_KEYS,
        input.credentialVersion,
        MOST_KEYS_A_DAY,
      );
      if (key !== undefined) return { key, text, previous: old };
    }
    throw new DomainError('not_found', `no active API key that has not been rotated yet has the id ${input.id}`);
  }
}

function earlier(one: Instant, other: Instant | undefined): Instant {
  return other === undefined ? one : instant(Math.min(one, other));
}
