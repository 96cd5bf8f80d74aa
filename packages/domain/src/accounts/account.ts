import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import { DomainError, errorCodes, kernelErrors } from '../kernel/errors.js';
import { escapeInvisible } from '../kernel/text.js';
import type { Plan } from './plan.js';
import type { Scopes } from './scope.js';

export const accountErrors = errorCodes({
  email_taken: 'conflict',
  address_unproven: 'conflict',
  signed_out: 'unauthenticated',
});

export type AccountId = Branded<bigint, 'AccountId'>;

export interface NewAccount {
  /** Made by `emailAddress`, unless the account is older than its rules. New accounts differ in `canonicalAddress`. */
  readonly email: string;
  readonly plan: Plan;
  /** None of its keys can use another scope. */
  readonly scopes: Scopes;
  readonly createdAt: Instant;
}

export interface Account extends NewAccount {
  readonly id: AccountId;
  /**
   * Counts how often the password was set, changed or reset. A session stores the version with which it began, and is
   * over as soon as the account's version differs.
   */
  readonly credentialVersion: number;
  /** When the address was proven, by a mailed link or by a password reset. Undefined if it is unproven. */
  readonly provenAt: Instant | undefined;
}

/**
 * Whether the address is known to belong to the holder. An account that the operator opened counts as proven until
 * somebody sets its password: until then nobody else can use it.
 */
export function isProven({ provenAt, credentialVersion }: Pick<Account, 'provenAt' | 'credentialVersion'>): boolean {
  return provenAt !== undefined || credentialVersion === 0;
}

/** @throws DomainError `address_unproven` */
export function requireProven(account: Account): void {
  if (!isProven(account)) {
    throw new DomainError(
      accountErrors.address_unproven,
      `the address of the account of ${escapeInvisible(account.email)} is unproven: somebody has signed up with it, and may not be its owner`,
    );
  }
}

/** The person's sessions ended while the request was in progress: the password was set, or the account was closed. */
export class SignedOut extends DomainError {
  constructor() {
    super(accountErrors.signed_out, 'you have been signed out');
  }
}

/**
 * Checks the session again after the request has waited. The owner may have ended a stranger's sessions meanwhile.
 *
 * @param version the `credentialVersion` that the account must still have. If it is undefined, nothing is checked.
 * @throws SignedOut
 */
export function requireVersion(account: Account | undefined, version: number | undefined): void {
  if (version !== undefined && account?.credentialVersion !== version) throw new SignedOut();
}

export interface PlanChange {
  readonly email: string;
  readonly plan: Plan;
  readonly isUnprovenFine: boolean;
}

/** @throws DomainError `not_found`, or `address_unproven`. */
export function decidePlan(account: Account | undefined, { email, plan, isUnprovenFine }: PlanChange): Account {
  const found = requireAccount(account, email);
  if (!isUnprovenFine) requireProven(found);
  return { ...found, plan };
}

/** @throws DomainError `not_found` */
export function decideScopes(
  account: Account | undefined,
  { email, scopes }: Pick<Account, 'email' | 'scopes'>,
): Account {
  return { ...requireAccount(account, email), scopes };
}

function requireAccount(account: Account | undefined, email: string): Account {
  if (account === undefined)
    throw new DomainError(kernelErrors.not_found, `no account has the address ${escapeInvisible(email)}`);
  return account;
}

/**
 * The address that replaces that of a closed account, so that the real one is free again. No open account can have it,
 * because its domain has no dot. RFC 2606 reserves that domain; mail to it is never delivered.
 */
export function closedEmail(id: AccountId): string {
  return `closed-${id}@invalid`;
}

export function emailTaken(): DomainError {
  return new DomainError(accountErrors.email_taken, 'email is already registered', { field: 'email' });
}
