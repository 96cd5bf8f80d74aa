// Passwords, addresses and mails: for account holders, so never for the API.

import { checkAll, DomainError, invalid } from '../kernel/errors.js';
import {
  decideLinkMail,
  isUsable,
  MOST_LINKS,
  newAccountMailId,
  newLinkMail,
  type NewLinkMail,
} from './account-mail.js';
import { type Account, type AccountId, emailAddress, isProven, readEmailAddress } from './account.js';
import {
  decideAddressChange,
  decideClosing,
  decidePasswordChange,
  decideProof,
  decideRehash,
  decideReset,
  decideSignUp,
} from './credentials.js';
import { isPassword } from './password-hasher.js';
import { newPassword, passwordFrom, requireRight } from './password.js';
import type { HolderOptions, HolderPorts } from './ports.js';

export * from './deliver-account-mails.js';
export * from './limit-attempts.js';

export class SignUp {
  constructor(
    private readonly ports: Omit<HolderPorts, 'attempts' | 'accountMailSender'>,
    private readonly options: HolderOptions,
  ) {}

  /**
   * Opens an account on the free plan and mails a link that proves its address. An existing account is never taken
   * over.
   *
   * @throws DomainError `invalid_parameter`, or `email_taken` if the address has an account.
   */
  async execute(input: { readonly email: string; readonly password: string }): Promise<Account> {
    const { email, password } = checkAll({
      email: () => emailAddress(input.email),
      password: () => newPassword(input.password, input.email),
    });
    const passwordHash = await this.ports.passwordHasher.hash(password);
    const command = { email, scopes: this.options.signupScopes, passwordHash };
    const now = this.ports.clock.now();
    const account = await this.ports.credentials.open(email, (holder) => decideSignUp(holder, command, now));
    await new RequestAddressProof(this.ports, this.options).execute(account);
    return account;
  }
}

export class SignIn {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher'>) {}

  /**
   * Undefined if the password is wrong. It takes the same time if there is no account, no password, or the account is
   * closed.
   */
  async execute(input: { readonly email: string; readonly password: string }): Promise<Account | undefined> {
    const password = passwordFrom(input.password);
    if (password === undefined) return undefined;
    const email = readEmailAddress(input.email);
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

export class RequestAddressProof {
  constructor(
    private readonly ports: Pick<HolderPorts, 'accountMails' | 'cryptography' | 'clock'>,
    private readonly options: Pick<HolderOptions, 'accountMailPages'>,
  ) {}

  /**
   * Queues a mail whose link proves the account's address once, within a day. False, and no mail, if mail isn't
   * configured, the address is proven already, or the account has `MOST_LINKS` usable links.
   */
  async execute(account: Account): Promise<boolean> {
    const page = this.options.accountMailPages?.proof;
    if (page === undefined || isProven(account)) return false;
    return queueLinkMail(this.ports, { accountId: account.id, kind: 'proof', page });
  }
}

export class ProveAddress {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'cryptography' | 'clock'>) {}

  /** Proves the address of the token's account. Undefined if the token is unknown, used or expired. */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.ports.clock.now();
    return this.ports.credentials.follow('proof', this.ports.cryptography.sha256(token), (link) =>
      decideProof(link, now),
    );
  }
}

export class RequestPasswordReset {
  constructor(
    private readonly ports: Pick<HolderPorts, 'credentials' | 'accountMails' | 'cryptography' | 'clock'>,
    private readonly options: Pick<HolderOptions, 'accountMailPages'>,
  ) {}

  /** Whether mail can be sent. */
  get isAvailable(): boolean {
    return this.options.accountMailPages !== undefined;
  }

  /**
   * Queues a mail whose link sets a password once, within an hour, to the account of that address, also if the operator
   * opened it and it has no password yet. The result doesn't tell whether there is such an account.
   *
   * @throws DomainError `service_unavailable` if mail isn't configured.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    const page = this.options.accountMailPages?.reset;
    if (page === undefined) throw new DomainError('service_unavailable', 'no mail can be sent here');
    const email = readEmailAddress(input.email);
    const found = email === undefined ? undefined : await this.ports.credentials.findByEmail(email);
    if (found === undefined) return;
    await queueLinkMail(this.ports, { accountId: found.account.id, kind: 'reset', page });
  }
}

export class ResetPassword {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher' | 'cryptography' | 'clock'>) {}

  /**
   * Sets the password and ends all sessions of the account. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `invalid_parameter` for a refused password; the token stays usable.
   */
  async execute({
    token,
    password,
  }: {
    readonly token: string;
    readonly password: string;
  }): Promise<Account | undefined> {
    const tokenHash = this.ports.cryptography.sha256(token);
    const found = await this.ports.credentials.findLink('reset', tokenHash);
    if (found === undefined || !isUsable(found, this.ports.clock.now())) return undefined;
    const passwordHash = await this.ports.passwordHasher.hash(newPassword(password, found.credentials.account.email));
    const now = this.ports.clock.now();
    return this.ports.credentials.follow('reset', tokenHash, (link) => decideReset(link, { passwordHash }, now));
  }
}

export interface ChangePasswordInput {
  readonly accountId: AccountId;
  readonly current: string;
  readonly next: string;
}

export class ChangePassword {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher'>) {}

  /**
   * Changes the password. All sessions end, because `credentialVersion` changes; the current session can be renewed
   * with the returned account. Undefined if the password was changed, or the account closed, meanwhile.
   *
   * @throws DomainError `invalid_parameter` if `current` is wrong, `next` can't be a password, or both.
   */
  async execute({ accountId, current, next }: ChangePasswordInput): Promise<Account | undefined> {
    const found = await this.ports.credentials.findById(accountId);
    const isRight = await isPassword(this.ports.passwordHasher, current, found?.passwordHash);
    const checked = checkAll({
      current: () => {
        requireRight(isRight, 'current');
      },
      next: () => newPassword(next, found?.account.email ?? '', 'next'),
    });
    if (found?.passwordHash === undefined) return undefined;
    const command = { current: found.passwordHash, next: await this.ports.passwordHasher.hash(checked.next) };
    return this.ports.credentials.change(accountId, (credentials) => decidePasswordChange(credentials, command));
  }
}

export interface RequestAddressChangeInput {
  readonly accountId: AccountId;
  /** The new address. */
  readonly email: string;
  readonly password: string;
}

export class RequestAddressChange {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'credentials' | 'accountMails' | 'passwordHasher' | 'cryptography' | 'clock'
    >,
    private readonly options: Pick<HolderOptions, 'accountMailPages'>,
  ) {}

  /**
   * Queues a mail to the new address, whose link gives the account that address once, within an hour. The result doesn't
   * tell whether the address has an account already. False, and no mail, if the account has `MOST_LINKS` usable
   * links.
   *
   * @throws DomainError `invalid_parameter` if the address or the password is wrong, or both; `service_unavailable` if mail
   * isn't configured.
   */
  async execute({ accountId, ...input }: RequestAddressChangeInput): Promise<boolean> {
    const page = this.options.accountMailPages?.change;
    if (page === undefined) throw new DomainError('service_unavailable', 'no mail can be sent here');
    const found = await this.ports.credentials.findById(accountId);
    const isRight = await isPassword(this.ports.passwordHasher, input.password, found?.passwordHash);
    const { address } = checkAll({
      address: () => anotherAddress(input.email, found?.account.email),
      password: () => {
        requireRight(isRight, 'password');
      },
    });
    return queueLinkMail(this.ports, { accountId, kind: 'change', page, address });
  }
}

function anotherAddress(text: string, present: string | undefined): string {
  const address = emailAddress(text);
  if (address === present) throw invalid('email', 'must not be your present address');
  return address;
}

export class ChangeAddress {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'cryptography' | 'clock'>) {}

  /**
   * Gives the token's account the address to which the token was mailed, and tells the former address by mail. Sessions,
   * keys and the password stay. Undefined if the token is unknown, used or expired.
   *
   * @throws DomainError `email_taken` if the new address has got an account meanwhile.
   */
  async execute({ token }: { readonly token: string }): Promise<Account | undefined> {
    const now = this.ports.clock.now();
    const command = { noticeId: newAccountMailId(this.ports.cryptography) };
    return this.ports.credentials.follow('change', this.ports.cryptography.sha256(token), (link) =>
      decideAddressChange(link, command, now),
    );
  }
}

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

/** Queues a mail with a link. Resolves to false, and queues none, if the account has `MOST_LINKS` usable links. */
async function queueLinkMail(
  { accountMails, clock, cryptography }: Pick<HolderPorts, 'accountMails' | 'clock' | 'cryptography'>,
  about: Pick<NewLinkMail, 'accountId' | 'kind' | 'page' | 'address'>,
): Promise<boolean> {
  const mail = newLinkMail(about, clock.now(), cryptography);
  return accountMails.add(mail, (state) => decideLinkMail(state, MOST_LINKS));
}
