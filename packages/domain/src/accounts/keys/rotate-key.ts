import { HOUR } from '../../kernel/clock.js';
import { invalid } from '../../kernel/errors.js';
import type { Transaction } from '../../kernel/transaction.js';
import { type ApiKeyId, decideRotation, type KeyCommand, MOST_OVERLAP, type RotationState } from './api-key.js';
import { newAccountMailId } from '../mails/account-mail.js';
import { type IssuedKey, newKeyText } from './issue-key.js';
import type { KeyOptions, KeyPorts } from './ports.js';

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
