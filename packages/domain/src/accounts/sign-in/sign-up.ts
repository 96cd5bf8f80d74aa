import { DAY } from '../../kernel/clock.js';
import { checkAll, DomainError, kernelErrors } from '../../kernel/errors.js';
import type { Account } from '../account.js';
import { emailAddress } from '../address.js';
import { type AttemptState, decideAttempt } from '../attempt-counter.js';
import { sendsMail } from '../deployment.js';
import { isUsable, newSignUpMail } from '../mails/account-mail.js';
import { queueCounted } from '../mails/queue-link-mail.js';
import { isGuessable } from './common-passwords.js';
import { decideProvenSignUp, decideSignUp, type SignUpLink } from './credentials.js';
import { newPassword } from './password.js';
import type { HolderOptions, HolderPorts } from './ports.js';

/**
 * How an account begins: with a mailed link, as soon as a worker can send mail; with a password alone, where the operator
 * is the only visitor; or only by the operator's command.
 */
export type SignUpWay = 'link' | 'password' | 'command';

export class GetSignUp {
  constructor(
    private readonly ports: Pick<HolderPorts, 'deployment'>,
    private readonly options: Pick<HolderOptions, 'opensUnproven'>,
  ) {}

  async execute(): Promise<SignUpWay> {
    if (await sendsMail(this.ports)) return 'link';
    return this.options.opensUnproven ? 'password' : 'command';
  }
}

export class SignUp {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'clock' | 'commonPasswords' | 'credentials' | 'deployment' | 'domainToAscii' | 'passwordHasher'
    >,
    private readonly options: HolderOptions,
  ) {}

  /**
   * Opens an account on the free plan whose address is unproven. An existing account is never taken over.
   *
   * @throws DomainError `invalid_parameter`; `email_taken` if the address has an account; `service_unavailable` if
   * accounts don't begin with a password alone.
   */
  async execute(input: { readonly email: string; readonly password: string }): Promise<Account> {
    await requireWay('password', this.ports, this.options);
    const isWeak = await isGuessable(this.ports.commonPasswords, input.password, input.email);
    const { email, password } = checkAll({
      email: () => emailAddress(input.email, this.ports.domainToAscii),
      password: () => newPassword(input.password, isWeak),
    });
    const passwordHash = await this.ports.passwordHasher.hash(password);
    const command = { email, scopes: this.options.signupScopes, passwordHash };
    const now = this.ports.clock.now();
    return this.ports.credentials.open(email, (holder) => decideSignUp(holder, command, now));
  }
}

/** Mails to an address that is signed up, in a day. */
const MOST_MAILS = { most: 3, within: DAY };

export class RequestSignUp {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'accountMails' | 'attempts' | 'clock' | 'cryptography' | 'deployment' | 'domainToAscii'
    >,
    private readonly options: HolderOptions,
  ) {}

  /**
   * Queues a mail with the link that opens an account, within a day. If the address has an account, the mail says so.
   * Neither the result nor its time tells. No mail is queued if the address has got three today.
   *
   * @throws DomainError `invalid_parameter`; `service_unavailable` if no mail can be sent.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    await requireWay('link', this.ports, this.options);
    const { accountMails, attempts, clock, cryptography, domainToAscii } = this.ports;
    const address = emailAddress(input.email, domainToAscii);
    const now = clock.now();
    const recipient = cryptography.sha256(`sign-up mail to ${address}`);
    const decide = (state: AttemptState) => decideAttempt(state, { ...MOST_MAILS, now });
    await queueCounted(attempts, recipient, decide, async () => {
      await accountMails.addSignUp(newSignUpMail(address, now, cryptography));
      return true;
    });
  }
}

export class CompleteSignUp {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'clock' | 'commonPasswords' | 'credentials' | 'cryptography' | 'passwordHasher'
    >,
    private readonly options: Pick<HolderOptions, 'signupScopes'>,
  ) {}

  /**
   * Opens an account on the free plan for the address to which the token was mailed. It is proven by that. The address's
   * other links end. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `invalid_parameter` for a refused password, or `email_taken` if the address has got an account
   * meanwhile. The token stays usable.
   */
  async execute(input: { readonly token: string; readonly password: string }): Promise<Account | undefined> {
    const { clock, commonPasswords, credentials, cryptography, passwordHasher } = this.ports;
    const tokenHash = cryptography.sha256(input.token);
    const found = await this.findUsable(tokenHash);
    if (found === undefined) return undefined;
    const isWeak = await isGuessable(commonPasswords, input.password, found.email);
    const passwordHash = await passwordHasher.hash(newPassword(input.password, isWeak));
    const command = { scopes: this.options.signupScopes, passwordHash };
    const now = clock.now();
    return credentials.completeSignUp(tokenHash, (link) => decideProvenSignUp(link, command, now));
  }

  /** Whether an account can be opened with the token. */
  async isOpen({ token }: { readonly token: string }): Promise<boolean> {
    return (await this.findUsable(this.ports.cryptography.sha256(token))) !== undefined;
  }

  private async findUsable(tokenHash: string): Promise<SignUpLink | undefined> {
    const found = await this.ports.credentials.findSignUp(tokenHash);
    return found !== undefined && isUsable(found, this.ports.clock.now()) ? found : undefined;
  }
}

async function requireWay(
  way: SignUpWay,
  ports: Pick<HolderPorts, 'deployment'>,
  options: Pick<HolderOptions, 'opensUnproven'>,
): Promise<void> {
  if ((await new GetSignUp(ports, options).execute()) === way) return;
  throw new DomainError(kernelErrors.service_unavailable, 'accounts begin in another way here');
}
