import type { Clock } from '../kernel/clock.js';
import type { AccountId } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { passwordFrom } from './password.js';
import type { PasswordHasher } from './password-hasher.js';

export interface CloseAccountInput {
  readonly accountId: AccountId;
  readonly password: string;
}

export class CloseAccount {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly hasher: PasswordHasher,
    private readonly clock: Clock,
  ) {}

  /**
   * Revokes all keys, deletes the address and the password, and ends all sessions. The account's orders stay. False if
   * the password is wrong.
   */
  async execute({ accountId, password: text }: CloseAccountInput): Promise<boolean> {
    const password = passwordFrom(text);
    const current = (await this.credentials.findById(accountId))?.passwordHash;
    if (password === undefined || current === undefined) return false;
    if (!(await this.hasher.verify(password, current))) return false;
    return this.credentials.close({ accountId, current, at: this.clock.now() });
  }
}
