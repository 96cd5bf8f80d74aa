import type { Clock } from '../kernel/clock.js';
import type { AccountId } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideClosing } from './credentials.js';
import { isPassword, type PasswordHasher } from './password-hasher.js';

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
   * Revokes all keys, deletes the address, the password and the log of refusals, and ends all sessions. The account's
   * orders stay. False if the password is wrong.
   */
  async execute({ accountId, password }: CloseAccountInput): Promise<boolean> {
    const current = (await this.credentials.findById(accountId))?.passwordHash;
    if (current === undefined || !(await isPassword(this.hasher, password, current))) return false;
    const now = this.clock.now();
    const closed = await this.credentials.change(accountId, (credentials) =>
      decideClosing(credentials, { current }, now),
    );
    return closed !== undefined;
  }
}
