import type { Clock } from '../kernel/clock.js';
import { checkAll } from '../kernel/errors.js';
import { type Account, emailAddress } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import { decideSignUp } from './credentials.js';
import { newPassword } from './password.js';
import type { PasswordHasher } from './password-hasher.js';
import type { RequestAddressProof } from './request-address-proof.js';
import type { Scopes } from './scope.js';

export interface SignUpInput {
  readonly email: string;
  readonly password: string;
}

export class SignUp {
  /** @param scopes the scopes that a new account is held to. */
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly hasher: PasswordHasher,
    private readonly requestAddressProof: RequestAddressProof,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
  ) {}

  /**
   * Opens an account on the free plan and mails a link that proves its address. An existing account is never taken
   * over.
   *
   * @throws DomainError `invalid_parameter`, or `email_taken` if the address has an account.
   */
  async execute(input: SignUpInput): Promise<Account> {
    const { email, password } = checkAll({
      email: () => emailAddress(input.email),
      password: () => newPassword(input.password, input.email),
    });
    const command = { email, scopes: this.scopes, passwordHash: await this.hasher.hash(password) };
    const now = this.clock.now();
    const account = await this.credentials.open(email, (holder) => decideSignUp(holder, command, now));
    await this.requestAddressProof.execute(account);
    return account;
  }
}
