import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId, NewAccount } from './account.js';
import type { NewAccountMail } from './account-mail.js';

export interface Credentials {
  readonly account: Account;
  /** Undefined while an account that the operator opened has no password. */
  readonly passwordHash: string | undefined;
}

/** A change that is made only while the account still has the password hash that was checked. */
export interface CredentialChange {
  readonly accountId: AccountId;
  readonly current: string;
}

/**
 * Port: passwords and mailed links of open accounts. A closed account is never returned. Each method is atomic. Links are
 * those of the account mail queue; revoking a link also revokes the mails of its kind that are queued.
 */
export interface CredentialRepository {
  /**
   * Opens an account with a password. Undefined, and nothing changed, if the address has an account. Of concurrent
   * callers one opens it.
   */
  open(account: NewAccount, passwordHash: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Credentials | undefined>;
  findById(id: AccountId): Promise<Credentials | undefined>;
  /**
   * Sets another password, deletes every reset and every pending change of the address, and raises the version. Undefined if the hash is no longer the given
   * one.
   */
  changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined>;
  /** Stores another hash of the same password, if the current hash is still there. */
  rehash(change: CredentialChange & { readonly next: string }): Promise<void>;
  /** The account whose password the token can reset at that instant. */
  findReset(tokenHash: string, at: Instant): Promise<Account | undefined>;
  /**
   * Uses up the reset, deletes the account's others, sets the password and raises the version. This also proves the
   * address. If it wasn't proven before (`isProven`), every existing key is revoked, because a stranger may have made
   * it. Undefined, and nothing changed, if the token isn't usable at that instant. Of concurrent callers one uses it.
   */
  resetPassword(reset: {
    readonly tokenHash: string;
    readonly passwordHash: string;
    readonly at: Instant;
  }): Promise<Account | undefined>;
  /**
   * Uses up the proof, deletes the account's other proofs, and marks the address proven unless it is already.
   * Undefined, and nothing changed, if the token isn't usable at that instant. Of concurrent callers one uses it.
   */
  proveAddress(proof: { readonly tokenHash: string; readonly at: Instant }): Promise<Account | undefined>;
  /**
   * Uses up the link that was mailed to the new address: the account has that address from now on, which is proven, and all
   * its other links are deleted. Queues the `notice` to the former address. Undefined, and nothing changed, if the token
   * isn't usable at that instant. Of concurrent callers one uses it.
   *
   * @throws DomainError `email_taken`, and nothing changed, if the new address has an account by now.
   */
  changeAddress(change: {
    readonly tokenHash: string;
    readonly at: Instant;
    readonly notice: Pick<NewAccountMail, 'id' | 'expiresAt'>;
  }): Promise<Account | undefined>;
  /**
   * Closes the account: its keys are revoked, its password, links, refusals and hourly usage are deleted,
   * and its address is free again (`closedEmail`). No key can be added afterwards, whatever races. False if the hash is
   * no longer the given one.
   */
  close(change: CredentialChange & { readonly at: Instant }): Promise<boolean>;
  /** Deletes the links that expired at or before that instant. Returns their number. */
  purgeLinks(until: Instant): Promise<number>;
}
