import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import { invalid } from '../kernel/errors.js';
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
}

// RFC 5321 §4.5.3.1.3 bounds a path to 256 octets, angle brackets included.
const MAX_EMAIL_LENGTH = 254;
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;

/**
 * What a closed account has in place of its address, which so is free again: no address that opens an account looks like
 * it, as its domain (RFC 2606's, for what is never delivered) has no dot.
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
