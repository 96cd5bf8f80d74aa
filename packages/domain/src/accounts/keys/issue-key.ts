import { type Instant, HOUR } from '../../kernel/clock.js';
import type { Cryptography } from '../../kernel/cryptography.js';
import { checkAll, invalid } from '../../kernel/errors.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { AccountId } from '../account.js';
import {
  type ApiKey,
  decideIssue,
  type KeyHolder,
  type KeyIssue,
  keyName,
  type NewApiKey,
  type ApiKeyId,
  decideRotation,
  type KeyCommand,
  MOST_OVERLAP,
  type RotationState,
} from './api-key.js';
import { newAccountMailId } from '../mails/account-mail.js';
import { generateKeyText, type KeyEnvironment } from './api-key-text.js';
import { scopeList } from '../scope.js';
import type { KeyOptions, KeyPorts } from './ports.js';

export interface IssueKeyInput extends Pick<KeyIssue, 'credentialVersion'> {
  readonly accountId: AccountId;
  readonly name?: string | undefined;
  /** The scopes of the key. Those that its account lacks can't be used. Default: all. */
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Instant | undefined;
}

/** A new key. Its text can't be read again. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly text: string;
  /** The key that it has replaced, if it was made by a rotation. */
  readonly replaced?: ApiKey;
}

export class IssueKey {
  constructor(
    private readonly ports: Pick<KeyPorts, 'apiKeys' | 'cryptography' | 'clock'>,
    private readonly options: Pick<KeyOptions, 'keyEnvironment'>,
  ) {}

  /**
   * A new key of the account, which may have 25 active keys and make 1,000 a day. Its owner is told by mail.
   *
   * @throws SignedOut; DomainError `invalid_parameter`, `not_found` if there is no such account, or `too_many_keys`.
   */
  async execute(
    { accountId, credentialVersion, ...input }: IssueKeyInput,
    transaction?: Transaction,
  ): Promise<IssuedKey> {
    const createdAt = this.ports.clock.now();
    const checked = checkAll({
      name: () => keyName(input.name),
      scopes: () => input.scopes && scopeList(input.scopes),
      expiresAt: () => futureInstant(input.expiresAt, createdAt),
    });
    const { text, stored } = newKeyText(this.options.keyEnvironment, this.ports.cryptography);
    const key = { accountId, ...checked, createdAt, ...stored };
    const issue = { key, credentialVersion, noticeId: newAccountMailId(this.ports.cryptography) };
    const decide = (state: KeyHolder) => decideIssue(state, issue);
    const added = await this.ports.apiKeys.add(accountId, createdAt, decide, transaction);
    return { key: added, text };
  }
}

function futureInstant(at: Instant | undefined, now: Instant): Instant | undefined {
  if (at !== undefined && !(at > now)) throw invalid('expiresAt', 'must be in the future');
  return at;
}

function newKeyText(
  environment: KeyEnvironment,
  cryptography: Cryptography,
): { readonly text: string; readonly stored: Pick<NewApiKey, 'hash' | 'ending'> } {
  const text = generateKeyText(environment, cryptography);
  return { text, stored: { hash: cryptography.sha256(text), ending: text.slice(-4) } };
}

export const DEFAULT_OVERLAP = 24 * HOUR;

export interface RotateKeyInput extends KeyCommand {
  /** How long both keys work, in milliseconds: 0 to 30 days. Default: 24 hours. */
  readonly overlap?: number | undefined;
}

export class RotateKey {
  constructor(
    private readonly ports: Pick<KeyPorts, 'apiKeys' | 'cryptography' | 'clock'>,
    private readonly options: Pick<KeyOptions, 'keyEnvironment'>,
  ) {}

  /**
   * A new key with the old one's name, scopes and expiry. The old one works until the overlap ends. A mail tells the
   * owner.
   *
   * @throws SignedOut; DomainError `invalid_parameter`, `not_found` if no active key that isn't rotated yet has that id, or
   * `too_many_keys` if the account would have more than 25 active keys or has made 1,000 today.
   */
  async execute(
    { overlap = DEFAULT_OVERLAP, ...input }: RotateKeyInput,
    transaction?: Transaction,
  ): Promise<IssuedKey> {
    if (!(overlap >= 0 && overlap <= MOST_OVERLAP)) throw invalid('overlap', 'must be 0 to 30 days');
    const now = this.ports.clock.now();
    const { text, stored } = newKeyText(this.options.keyEnvironment, this.ports.cryptography);
    const noticeId = newAccountMailId(this.ports.cryptography);
    const command = { ...input, overlap, text: stored, noticeId };
    const decide = (state: RotationState) => decideRotation(state, command, now);
    const { old, replacement } = await this.ports.apiKeys.replace(input.id as ApiKeyId, now, decide, transaction);
    return { key: replacement, text, replaced: old };
  }
}
