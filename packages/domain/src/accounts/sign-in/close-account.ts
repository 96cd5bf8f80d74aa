import type { AccountId } from '../account.js';
import { decideClosing } from './credentials.js';
import { newAccountMailId } from '../mails/account-mail.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from './ports.js';

export class CloseAccount {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher' | 'cryptography' | 'clock'>) {}

  /**
   * Revokes all keys, deletes the address, the password and the log of refusals, and ends all sessions. The account's
   * orders stay. False if the password is wrong.
   */
  async execute({
    accountId,
    password,
  }: {
    readonly accountId: AccountId;
    readonly password: string;
  }): Promise<boolean> {
    const current = (await this.ports.credentials.findById(accountId))?.passwordHash;
    if (current === undefined || !(await isPassword(this.ports.passwordHasher, password, current))) return false;
    const now = this.ports.clock.now();
    const command = { current, noticeId: newAccountMailId(this.ports.cryptography) };
    const closed = await this.ports.credentials.change(accountId, (credentials) =>
      decideClosing(credentials, command, now),
    );
    return closed !== undefined;
  }
}
