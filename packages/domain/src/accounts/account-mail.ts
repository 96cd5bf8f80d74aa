import { randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import type { AccountId } from './account.js';

export type AccountMailId = Branded<string, 'AccountMailId'>;

/** A `reset` sets a password, a `proof` proves the account's address. */
export const ACCOUNT_MAIL_KINDS = ['reset', 'proof'] as const;
export type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** The address of the page that takes the token of each kind of mail. */
export type AccountMailPages = Readonly<Record<AccountMailKind, string>>;

/** A mail to an account's address, with a link that works once. Its token is made when it is sent. */
export interface NewAccountMail {
  readonly id: AccountMailId;
  readonly accountId: AccountId;
  readonly kind: AccountMailKind;
  /** The page that its link opens. */
  readonly page: string;
  readonly createdAt: Instant;
  /** From this instant on its link is of no use. */
  readonly expiresAt: Instant;
}

export function newAccountMailId(cryptography: Cryptography): AccountMailId {
  return `mail_${randomBase62(24, cryptography)}` as AccountMailId;
}
