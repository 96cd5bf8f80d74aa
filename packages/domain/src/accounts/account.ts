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
}

// RFC 5321 §4.5.3.1.3 bounds a path to 256 octets, angle brackets included.
const MAX_EMAIL_LENGTH = 254;
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;

/** @throws DomainError `invalid_parameter` unless it has the shape of an e-mail address. */
export function emailAddress(text: string): string {
  if (text.length > MAX_EMAIL_LENGTH || !EMAIL.test(text)) {
    throw invalid('email', 'must be an e-mail address, such as dev@example.com');
  }
  return text.toLowerCase();
}
