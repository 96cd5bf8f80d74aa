import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import { DomainError, invalid } from '../kernel/errors.js';
import type { Plan } from './plan.js';

export type AccountId = Branded<bigint, 'AccountId'>;

export interface NewAccount {
  /** In lower case: an address opens one account however it is written. */
  readonly email: string;
  readonly plan: Plan;
  readonly createdAt: Instant;
}

export interface Account extends NewAccount {
  readonly id: AccountId;
  /**
   * How often its password was set, changed or reset. A session keeps the version it was begun with, and ends once the
   * account has another.
   */
  readonly credentialVersion: number;
  /** Since when it is known that the address is the holder's: by a link that was mailed to it, or a reset by mail. */
  readonly provenAt: Instant | undefined;
}

/**
 * Whether the address is known to be the holder's. The operator answers for an account that the operator has opened, and
 * for which nobody has set a password yet: nobody else can have anything of it.
 */
export function isProven({ provenAt, credentialVersion }: Pick<Account, 'provenAt' | 'credentialVersion'>): boolean {
  return provenAt !== undefined || credentialVersion === 0;
}

/** @throws DomainError `address_unproven` */
export function requireProven(account: Account): void {
  if (!isProven(account)) {
    throw new DomainError(
      'address_unproven',
      `the address of the account of ${account.email} is unproven: somebody has signed up with it, and may not be its owner`,
    );
  }
}

// RFC 5321 §4.5.3.1.3 bounds a path to 256 octets, angle brackets included.
const MAX_EMAIL_LENGTH = 254;
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;

/**
 * The placeholder for a closed account's address, so that the address is free again. It is never the address of an
 * account, because its domain has no dot. RFC 2606 reserves that domain for mail that is never delivered.
 */
export function closedEmail(id: AccountId): string {
  return `closed-${id}@invalid`;
}

export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL_LENGTH && EMAIL.test(text);
}

/** As the account of that address has it, if there is one; undefined of what can't be one's. */
export function readEmailAddress(text: string): string | undefined {
  return isEmailAddress(text) ? text.toLowerCase() : undefined;
}

/** @throws DomainError `invalid_parameter` unless it has the shape of an e-mail address. */
export function emailAddress(text: string): string {
  if (!isEmailAddress(text)) {
    throw invalid('email', 'must be an e-mail address, such as dev@example.com');
  }
  return text.toLowerCase();
}
