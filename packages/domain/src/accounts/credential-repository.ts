import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId, NewAccount } from './account.js';

export interface Credentials {
  readonly account: Account;
  /** Undefined while an account that the operator opened has no password. */
  readonly passwordHash: string | undefined;
}

/** A mailed link. It works once, and only the hash of its token is stored. */
export interface MailedLink {
  readonly accountId: AccountId;
  /** SHA-256 of the token. */
  readonly tokenHash: string;
  readonly createdAt: Instant;
  /** The link doesn't work from this instant on. */
  readonly expiresAt: Instant;
}

/** A link that lets its recipient set a password. */
export type PasswordReset = MailedLink;

/** A link that lets its recipient prove the account's address. */
export type AddressProof = MailedLink;

/** A change that is made only while the account still has the password hash that was checked. */
export interface CredentialChange {
  readonly accountId: AccountId;
  readonly current: string;
}

/** Port: passwords and mailed links of open accounts. A closed account is never returned. Each method is atomic. */
export interface CredentialRepository {
  /**
   * Opens an account with a password. Undefined, and nothing changed, if the address has an account. Of concurrent
   * callers one opens it.
   */
  open(account: NewAccount, passwordHash: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Credentials | undefined>;
  findById(id: AccountId): Promise<Credentials | undefined>;
  /**
   * Sets another password, deletes every reset and raises the version. Undefined if the hash is no longer the given
   * one.
   */
  changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined>;
  /** Stores another hash of the same password, if the current hash is still there. */
  rehash(change: CredentialChange & { readonly next: string }): Promise<void>;
  /** Adds the reset. False, and nothing added, if the account has `most` usable ones when this one is created. */
  addReset(reset: PasswordReset, most: number): Promise<boolean>;
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
  /** Adds the proof. False, and nothing added, if the account has `most` usable ones when this one is created. */
  addProof(proof: AddressProof, most: number): Promise<boolean>;
  /**
   * Uses up the proof, deletes the account's other proofs, and marks the address proven unless it is already.
   * Undefined, and nothing changed, if the token isn't usable at that instant. Of concurrent callers one uses it.
   */
  proveAddress(proof: { readonly tokenHash: string; readonly at: Instant }): Promise<Account | undefined>;
  /**
   * Closes the account: its keys are revoked, its password, resets and proofs are deleted, and its address is free
   * again (`closedEmail`). No key can be added afterwards, whatever races. False if the hash is no longer the given
   * one.
   */
  close(change: CredentialChange & { readonly at: Instant }): Promise<boolean>;
  /** Deletes the resets and proofs that expired at or before that instant. Returns their number. */
  forgetResets(until: Instant): Promise<number>;
}
