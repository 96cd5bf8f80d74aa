import type { Account, AccountId } from '../account.js';
import { readTypedAddress } from '../address.js';
import {
  decideRehash,
  decidePasswordChange,
  decideReset,
  decideEndingAccess,
  type Person,
  decideClosing,
} from './credentials.js';
import { passwordFrom, newPassword, requireRight } from './password.js';
import type { HolderPorts } from './ports.js';
import { type AttemptLimit, decideAttempt } from '../attempt-counter.js';
import { checkAll } from '../../kernel/errors.js';
import { isGuessable } from './common-passwords.js';
import { newAccountMailId, isUsable } from '../mails/account-mail.js';
import { isPassword } from './password-hasher.js';
import { type LinkMailPorts, queueLinkMail, requireMail } from '../mails/queue-link-mail.js';

// Passwords and addresses. They are for account holders in the portal, so the API never serves them.

export * from './change-address.js';
export * from './sign-up.js';

export class SignIn {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher'>) {}

  /** Undefined if the password is wrong. It takes the same time without an account or password, or if it is closed. */
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

/** Slows down callers who guess passwords, ask which addresses have accounts, or have mail sent to strangers. */
export class LimitAttempts {
  constructor(private readonly ports: Pick<HolderPorts, 'attempts' | 'cryptography' | 'clock'>) {}

  /** Counts an attempt. Undefined if it is allowed; otherwise the milliseconds until the next one is. */
  async execute(subject: string, limit: AttemptLimit): Promise<number | undefined> {
    const now = this.ports.clock.now();
    const { until } = await this.ports.attempts.count(this.ports.cryptography.sha256(subject), (state) =>
      decideAttempt(state, { ...limit, now }),
    );
    return until === undefined ? undefined : until - now;
  }

  /** Removes an attempt that succeeded, so that it doesn't count. */
  async refund(subject: string): Promise<void> {
    await this.ports.attempts.refund(this.ports.cryptography.sha256(subject));
  }

  /** Resets the counts of these subjects. */
  async clear(subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) await this.ports.attempts.clear(this.ports.cryptography.sha256(subject));
  }
}

export interface ChangePasswordInput {
  readonly accountId: AccountId;
  readonly current: string;
  readonly next: string;
}

export class ChangePassword {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'clock' | 'commonPasswords' | 'credentials' | 'cryptography' | 'passwordHasher'
    >,
  ) {}

  /**
   * Changes the password. All sessions end, because `credentialVersion` changes; the current session can be renewed
   * with the returned account. Undefined if the password was changed, or the account closed, meanwhile.
   *
   * @throws DomainError `invalid_parameter` if `current` is wrong, `next` can't be a password, or both.
   */
  async execute({ accountId, current, next }: ChangePasswordInput): Promise<Account | undefined> {
    const found = await this.ports.credentials.findById(accountId);
    const isRight = await isPassword(this.ports.passwordHasher, current, found?.passwordHash);
    const isWeak = await isGuessable(this.ports.commonPasswords, next, found?.account.email ?? '');
    const checked = checkAll({
      current: () => {
        requireRight(isRight, 'current');
      },
      next: () => newPassword(next, isWeak, 'next'),
    });
    if (found?.passwordHash === undefined) return undefined;
    const hash = await this.ports.passwordHasher.hash(checked.next);
    const command = { current: found.passwordHash, next: hash, noticeId: newAccountMailId(this.ports.cryptography) };
    const now = this.ports.clock.now();
    return this.ports.credentials.change(accountId, (credentials) => decidePasswordChange(credentials, command, now));
  }
}

export class RequestPasswordReset {
  constructor(private readonly ports: LinkMailPorts & Pick<HolderPorts, 'credentials' | 'deployment'>) {}

  /**
   * Queues a mail whose link sets a password once, within an hour, to the account of that address, also if the operator
   * opened it and it has no password yet. The result doesn't tell whether there is such an account.
   *
   * @throws DomainError `service_unavailable` if mail isn't configured.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    await requireMail(this.ports);
    const email = readTypedAddress(input.email);
    const found = email === undefined ? undefined : await this.ports.credentials.findByEmail(email);
    if (found === undefined) return;
    const { id: accountId, email: recipient } = found.account;
    await queueLinkMail(this.ports, { accountId, kind: 'reset' }, recipient);
  }
}

export class ResetPassword {
  constructor(
    private readonly ports: Pick<
      HolderPorts,
      'credentials' | 'passwordHasher' | 'commonPasswords' | 'cryptography' | 'clock'
    >,
  ) {}

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
    const isWeak = await isGuessable(this.ports.commonPasswords, password, found.credentials.account.email);
    const passwordHash = await this.ports.passwordHasher.hash(newPassword(password, isWeak));
    const now = this.ports.clock.now();
    const command = { passwordHash, noticeId: newAccountMailId(this.ports.cryptography) };
    return this.ports.credentials.useLink('reset', tokenHash, (link) => decideReset(link, command, now));
  }
}

export class EndAccess {
  constructor(private readonly ports: Pick<HolderPorts, 'clock' | 'credentials'>) {}

  /** Revokes all keys of the account and deletes its webhooks. @throws SignedOut */
  async execute(person: Person): Promise<void> {
    const now = this.ports.clock.now();
    await this.ports.credentials.change(person.accountId, (credentials) =>
      decideEndingAccess(credentials, person, now),
    );
  }
}

export class CloseAccount {
  constructor(private readonly ports: Pick<HolderPorts, 'credentials' | 'passwordHasher' | 'cryptography' | 'clock'>) {}

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
    const command = { current, noticeId: newAccountMailId(this.ports.cryptography) };
    const closed = await this.ports.credentials.change(accountId, (credentials) =>
      decideClosing(credentials, command, now),
    );
    return closed !== undefined;
  }
}
