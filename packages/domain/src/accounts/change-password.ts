import type { Account, AccountId } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { newPassword, passwordFrom } from './password.js';
import type { PasswordHasher } from './password-hasher.js';

export interface ChangePasswordInput {
  readonly accountId: AccountId;
  readonly current: string;
  readonly next: string;
}

export class ChangePassword {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * Changes the password. All sessions end, because `credentialVersion` changes; the current session can be renewed
   * with the returned account. Undefined if the current password is wrong.
   *
   * @throws DomainError `invalid_parameter` if `next` can't be a password.
   */
  async execute({ accountId, current, next }: ChangePasswordInput): Promise<Account | undefined> {
    const password = passwordFrom(current);
    const found = await this.credentials.findById(accountId);
    if (password === undefined || found?.passwordHash === undefined) return undefined;
    const nextPassword = newPassword(next, found.account.email);
    if (!(await this.hasher.verify(password, found.passwordHash))) return undefined;
    const hash = await this.hasher.hash(nextPassword);
    return this.credentials.changePassword({ accountId, current: found.passwordHash, next: hash });
  }
}
