import type { AccountId } from '../account.js';
import { decideClosing } from './credentials.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from '../ports.js';

export class CloseAccount {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher' | 'clock'>) {}

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
    const closed = await this.ports.credentials.change(accountId, (credentials) =>
      decideClosing(credentials, { current }, now),
    );
    return closed !== undefined;
  }
}
