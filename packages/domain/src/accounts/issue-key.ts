import type { Clock, Instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { checkAll, invalid } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import {
  type ApiKey,
  generateKeyText,
  type KeyEnvironment,
  keyName,
  MOST_ACTIVE_KEYS,
  MOST_KEYS_A_DAY,
  type NewApiKey,
} from './api-key.js';
import type { ApiKeyRepository } from './api-key-repository.js';
import { scopeList } from './scope.js';

export interface IssueKeyInput {
  readonly accountId: AccountId;
  /** The `credentialVersion` that the account must still have, for a request made in a session. Default: any. */
  readonly credentialVersion?: number | undefined;
  readonly name?: string | undefined;
  /** The scopes that the key asks for; its account may be held to fewer. Default: all. */
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Instant | undefined;
}

/** A new key. Its text can't be read again. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly text: string;
  /** The replaced key, as it was before. */
  readonly previous?: ApiKey;
}

export class IssueKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly environment: KeyEnvironment,
  ) {}

  /**
   * A new key of the account, which may have 25 active keys and make 1,000 a day.
   *
   * @throws DomainError `invalid_parameter`, `not_found` if there is no such account or it has another version, or
   * `too_many_keys`.
   */
  async execute(input: IssueKeyInput): Promise<IssuedKey> {
    const now = this.clock.now();
    const { name, scopes, expiresAt } = checkAll({
      name: () => keyName(input.name),
      scopes: () => input.scopes && scopeList(input.scopes),
      expiresAt: () => futureInstant(input.expiresAt, now),
    });
    const { text, newKey } = draftKey(
      { accountId: input.accountId, name, scopes, createdAt: now, expiresAt },
      this.environment,
      this.cryptography,
    );
    const { credentialVersion } = input;
    return { key: await this.keys.add(newKey, MOST_ACTIVE_KEYS, credentialVersion, MOST_KEYS_A_DAY), text };
  }
}

function futureInstant(at: Instant | undefined, now: Instant): Instant | undefined {
  if (at !== undefined && !(at > now)) throw invalid('expiresAt', 'must be in the future');
  return at;
}

export function draftKey(
  about: Omit<NewApiKey, 'hash' | 'ending'>,
  environment: KeyEnvironment,
  cryptography: Cryptography,
): { readonly text: string; readonly newKey: NewApiKey } {
  const text = generateKeyText(environment, cryptography);
  return { text, newKey: { ...about, hash: cryptography.sha256(text), ending: text.slice(-4) } };
}
