import type { Account } from '../account.js';
import { isUsable, newAccountMailId } from '../mails/account-mail.js';
import { isGuessable } from './common-passwords.js';
import { decideReset } from './credentials.js';
import { newPassword } from './password.js';
import type { HolderPorts } from './ports.js';

export class ResetPassword {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'credentials' | 'passwordHasher' | 'commonPasswords' | 'cryptography' | 'clock'
    >,
  ) {}

  /**
   * Sets the password and ends all sessions of the account. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `invalid_parameter` for a refused password; the token stays usable.
   */
  async execute({
    token,
    password,
  }: {
    readonly token: string;
    readonly password: string;
  }): Promise<Account | undefined> {
    const tokenHash = this.ports.cryptography.sha256(token);
    const found = await this.ports.credentials.findLink('reset', tokenHash);
    if (found === undefined || !isUsable(found, this.ports.clock.now())) return undefined;
    const isWeak = await isGuessable(this.ports.commonPasswords, password, found.credentials.account.email);
    const passwordHash = await this.ports.passwordHasher.hash(newPassword(password, isWeak));
    const now = this.ports.clock.now();
    const command = { passwordHash, noticeId: newAccountMailId(this.ports.cryptography) };
    return this.ports.credentials.useLink('reset', tokenHash, (link) => decideReset(link, command, now));
  }
}
