import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Account } from './account.js';
import { newAccountMailId } from './account-mail.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideAddressChange } from './credentials.js';

export class ChangeAddress {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /**
   * Gives the token's account the address to which the token was mailed, and tells the former address by mail. Sessions, keys
   * and the password stay. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `email_taken` if the new address has an account by now.
   */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.clock.now();
    const command = { noticeId: newAccountMailId(this.cryptography) };
    return this.credentials.follow('change', this.cryptography.sha256(token), (link) =>
      decideAddressChange(link, command, now),
    );
  }
}
