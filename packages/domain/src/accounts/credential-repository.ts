import type { Instant } from '../kernel/clock.js';
import type { Account, AccountId, NewAccount } from './account.js';

export interface Credentials {
  readonly account: Account;
  /** Undefined where the operator has opened the account, and nobody has set a password yet. */
  readonly passwordHash: string | undefined;
}

/** A link that was mailed: it works once, and only the hash of its token is kept. */
export interface MailedLink {
  readonly accountId: AccountId;
  /** SHA-256 of the token. */
  readonly tokenHash: string;
  readonly createdAt: Instant;
  /** From this instant on it is of no use. */
  readonly expiresAt: Instant;
}

/** Lets the holder of its token set a password. */
export type PasswordReset = MailedLink;

/** Lets the holder of its token prove the account's address. */
export type AddressProof = MailedLink;

/** A change that happens only where the account still has the password hash that it was decided on. */
export interface CredentialChange {
  readonly accountId: AccountId;
  readonly current: string;
}

/** Port: what people prove by that an account is theirs; those that are closed aren't there. Each method is atomic. */
export interface CredentialRepository {
  /** Opens an account with a password. Undefined, and nothing changed, where the address has one: of racing callers one opens it. */
  open(account: NewAccount, passwordHash: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Credentials | undefined>;
  findById(id: AccountId): Promise<Credentials | undefined>;
  /** Sets another password, takes back every reset and raises the version; undefined where the hash is another by now. */
  changePassword(change: CredentialChange & { readonly next: string }): Promise<Account | undefined>;
  /** Another hash of the same password, where the current one is still there. */
  rehash(change: CredentialChange & { readonly next: string }): Promise<void>;
  /** Whether the reset was added, which it isn't where the account has `most` that can be used at its creation. */
  addReset(reset: PasswordReset, most: number): Promise<boolean>;
  /** The account that the token resets the password of at that instant. */
  findReset(tokenHash: string, at: Instant): Promise<Account | undefined>;
  /**
   * Spends the reset, takes back the account's others, sets the password and raises the version. It proves the address:
   * where that isn't proven yet (`isProven`), every key that was made before is revoked at that instant, as a stranger may
   * have made it. Undefined, and nothing changed, where the reset can't be used at that instant: of racing callers one
   * spends it.
   */
  resetPassword(reset: {
    readonly tokenHash: string;
    readonly passwordHash: string;
    readonly at: Instant;
  }): Promise<Account | undefined>;
  /** Whether the proof was added, which it isn't where the account has `most` that can be used at its creation. */
  addProof(proof: AddressProof, most: number): Promise<boolean>;
  /**
   * Spends the proof, takes back the account's others, and notes that the address is proven, where it isn't already.
   * Undefined, and nothing changed, where it can't be used at that instant: of racing callers one spends it.
   */
  proveAddress(proof: { readonly tokenHash: string; readonly at: Instant }): Promise<Account | undefined>;
  /**
   * Closes the account: its keys are revoked, its password, resets and proofs forgotten, its address given back (`closedEmail`),
   * and no key is added to it any more, however close the race. Whether it did, as the hash may be another by now.
   */
  close(change: CredentialChange & { readonly at: Instant }): Promise<boolean>;
  /** Deletes the resets and proofs that expired until that instant; how many. */
  forgetResets(until: Instant): Promise<number>;
}
