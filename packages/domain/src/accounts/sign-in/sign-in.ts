import type { Account } from '../account.js';
import { readTypedAddress } from '../address.js';
import { decideRehash } from './credentials.js';
import { passwordFrom } from './password.js';
import type { HolderPorts } from './ports.js';

export class SignIn {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher'>) {}

  /**
   * Undefined if the password is wrong. It takes the same time without an account or a password, or if it is closed.
   */
  async execute(input: { readonly email: string; readonly password: string }): Promise<Account | undefined> {
    const password = passwordFrom(input.password);
    if (password === undefined) return undefined;
    const email = readTypedAddress(input.email);
    const found = email === undefined ? undefined : await this.ports.credentials.findByEmail(email);
    const isRight = await this.ports.passwordHasher.verify(password, found?.passwordHash);
    if (!isRight || found?.passwordHash === undefined) return undefined;
    const { account, passwordHash: current } = found;
    if (this.ports.passwordHasher.isOutdated(current)) {
      const command = { current, next: await this.ports.passwordHasher.hash(password) };
      await this.ports.credentials.change(account.id, (credentials) => decideRehash(credentials, command));
    }
    return account;
  }
}
