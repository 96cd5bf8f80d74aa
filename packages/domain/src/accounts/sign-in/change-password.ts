import { checkAll } from '../../kernel/errors.js';
import type { Account, AccountId } from '../account.js';
import { isGuessable } from './common-passwords.js';
import { decidePasswordChange } from './credentials.js';
import { newPassword, requireRight } from './password.js';
import { newAccountMailId } from '../mails/account-mail.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from './ports.js';

export interface ChangePasswordInput {
  readonly accountId: AccountId;
  readonly current: string;
  readonly next: string;
}

export class ChangePassword {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'clock' | 'commonPasswords' | 'credentials' | 'cryptography' | 'passwordHasher'
    >,
  ) {}

  /**
   * Changes the password. All sessions end, because `credentialVersion` changes; the current session can be renewed
   * with the returned account. Undefined if the password was changed, or the account closed, meanwhile.
   *
   * @throws DomainError `invalid_parameter` if `current` is wrong, `next` can't be a password, or both.
   */
  async execute({ accountId, current, next }: ChangePasswordInput): Promise<Account | undefined> {
    const found = await this.ports.credentials.findById(accountId);
    const isRight = await isPassword(this.ports.passwordHasher, current, found?.passwordHash);
    const isWeak = await isGuessable(this.ports.commonPasswords, next, found?.account.email ?? '');
    const checked = checkAll({
      current: () => {
        requireRight(isRight, 'current');
      },
      next: () => newPassword(next, isWeak, 'next'),
    });
    if (found?.passwordHash === undefined) return undefined;
    const hash = await this.ports.passwordHasher.hash(checked.next);
    const command = { current: found.passwordHash, next: hash, noticeId: newAccountMailId(this.ports.cryptography) };
    const now = this.ports.clock.now();
    return this.ports.credentials.change(accountId, (credentials) => decidePasswordChange(credentials, command, now));
  }
}
