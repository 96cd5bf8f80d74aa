import type { Instant } from '../../kernel/clock.js';
import type { Cryptography } from '../../kernel/cryptography.js';
import { checkAll, invalid } from '../../kernel/errors.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { AccountId } from '../account.js';
import { type ApiKey, decideIssue, type KeyHolder, type KeyIssue, keyName, type NewApiKey } from './api-key.js';
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

/** A new key's text, and what is stored of it. */
export function newKeyText(
  environment: KeyEnvironment,
  cryptography: Cryptography,
): { readonly text: string; readonly stored: Pick<NewApiKey, 'hash' | 'ending'> } {
  const text = generateKeyText(environment, cryptography);
  return { text, stored: { hash: cryptography.sha256(text), ending: text.slice(-4) } };
}
