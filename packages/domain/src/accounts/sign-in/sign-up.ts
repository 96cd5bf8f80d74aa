import { checkAll } from '../../kernel/errors.js';
import type { Account } from '../account.js';
import { emailAddress } from '../address.js';
import { isGuessable } from './common-passwords.js';
import { decideSignUp } from './credentials.js';
import { newPassword } from './password.js';
import { RequestAddressProof } from './request-address-proof.js';
import type { HolderOptions, HolderPorts } from './ports.js';

export class SignUp {
  constructor(
    private readonly ports: Omit<HolderPorts, 'accountMailSender'>,
    private readonly options: HolderOptions,
  ) {}

  /**
   * Opens an account on the free plan and mails a link that proves its address. An existing account is never taken
   * over.
   *
   * @throws DomainError `invalid_parameter`, or `email_taken` if the address has an account.
   */
  async execute(input: { readonly email: string; readonly password: string }): Promise<Account> {
    const isWeak = await isGuessable(this.ports.commonPasswords, input.password, input.email);
    const { email, password } = checkAll({
      email: () => emailAddress(input.email, this.ports.domainToAscii),
      password: () => newPassword(input.password, isWeak),
    });
    const passwordHash = await this.ports.passwordHasher.hash(password);
    const command = { email, scopes: this.options.signupScopes, passwordHash };
    const now = this.ports.clock.now();
    const account = await this.ports.credentials.open(email, (holder) => decideSignUp(holder, command, now));
    await new RequestAddressProof(this.ports, this.options).execute(account);
    return account;
  }
}
