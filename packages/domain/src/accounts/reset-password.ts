import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { Account } from './account.js';
import { isUsable } from './account-mail.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideReset } from './credentials.js';
import { newPassword } from './password.js';
import type { PasswordHasher } from './password-hasher.js';

export interface ResetPasswordInput {
  readonly token: string;
  readonly password: string;
}

export class ResetPassword {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly hasher: PasswordHasher,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /**
   * Sets the password and ends all sessions of the account. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `invalid_parameter` for a refused password; the token stays usable.
   */
  async execute({ token, password }: ResetPasswordInput): Promise<Account | undefined> {
    const tokenHash = this.cryptography.sha256(token);
    const found = await this.credentials.findLink('reset', tokenHash);
    if (found === undefined || !isUsable(found, this.clock.now())) return undefined;
    const passwordHash = await this.hasher.hash(newPassword(password, found.credentials.account.email));
    const now = this.clock.now();
    return this.credentials.follow('reset', tokenHash, (link) => decideReset(link, { passwordHash }, now));
  }
}
