import { type Account, readEmailAddress } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideRehash } from './credentials.js';
import { passwordFrom } from './password.js';
import type { PasswordHasher } from './password-hasher.js';

export interface SignInInput {
  readonly email: string;
  readonly password: string;
}

export class SignIn {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * Undefined if the password is wrong. It takes the same time if there is no account, no password, or the account is
   * closed.
   */
  async execute(input: SignInInput): Promise<Account | undefined> {
    const password = passwordFrom(input.password);
    if (password === undefined) return undefined;
    const email = readEmailAddress(input.email);
    const found = email === undefined ? undefined : await this.credentials.findByEmail(email);
    const isRight = await this.hasher.verify(password, found?.passwordHash);
    if (!isRight || found?.passwordHash === undefined) return undefined;
    const { account, passwordHash: current } = found;
    if (this.hasher.isOutdated(current)) {
      const command = { current, next: await this.hasher.hash(password) };
      await this.credentials.change(account.id, (credentials) => decideRehash(credentials, command));
    }
    return account;
  }
}
