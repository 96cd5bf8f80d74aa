import type { Account } from '../account.js';
import { newAccountMailId } from '../mails/account-mail.js';
import { decideAddressChange } from './credentials.js';
import type { HolderPorts } from './ports.js';

export class ChangeAddress {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'cryptography' | 'clock'>) {}

  /**
   * Gives the token's account the address to which the token was mailed, and tells the former address by mail, if it was proven.
   * Sessions, keys and the password stay. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `email_taken` if an account with the new address was opened meanwhile.
   */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.ports.clock.now();
    const command = { noticeId: newAccountMailId(this.ports.cryptography) };
    return this.ports.credentials.follow('change', this.ports.cryptography.sha256(token), (link) =>
      decideAddressChange(link, command, now),
    );
  }
}
