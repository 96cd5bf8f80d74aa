import { type Clock, DAY, later } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Account } from './account.js';
import { newAccountMailId } from './account-mail.js';
import type { CredentialRepository } from './credential-repository.js';

/** How long the mail to the former address is tried. */
export const NOTICE_TTL = 2 * DAY;

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
    const at = this.clock.now();
    const notice = { id: newAccountMailId(this.cryptography), expiresAt: later(at, NOTICE_TTL) };
    return this.credentials.changeAddress({ tokenHash: this.cryptography.sha256(token), at, notice });
  }
}
