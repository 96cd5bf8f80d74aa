import { randomBase62 } from '../../kernel/base62.js';
import type { Branded } from '../../kernel/branded.js';
import { DAY, HOUR, type Instant, instant, later } from '../../kernel/clock.js';
import type { Cryptography } from '../../kernel/cryptography.js';
import { type Account, type AccountId, requireVersion } from '../account.js';
import type { AttemptDecision, AttemptState } from '../attempt-counter.js';

export type AccountMailId = Branded<string, 'AccountMailId'>;

/** A `reset` sets a password, a `change` gives the account another address. */
export const LINK_KINDS = ['reset', 'change'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/**
 * What tells the owner that the password was changed or reset, a key was made or rotated, the account has another
 * address or was closed; and of how many changes more (`decideNotice`).
 */
const NOTICE_KINDS = ['password', 'recovered', 'key', 'rotated', 'changed', 'closed', 'more'] as const;

/**
 * The kinds with a link that works once: those of an account, and `sign-up`, which goes to somebody who wants one; the
 * notices; and `webhook`, which tells that a webhook was disabled.
 */
export const ACCOUNT_MAIL_KINDS = [...LINK_KINDS, 'sign-up', ...NOTICE_KINDS, 'webhook'] as const;
export type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** How long an account's link works, in milliseconds. */
export const LINK_TTL = HOUR;
/** How long the link works with which an account begins, in milliseconds. */
export const SIGN_UP_TTL = DAY;
/** Usable links of one kind that an account may have at once. This also limits its mails to strangers. */
export const MOST_LINKS = 3;

/** A mail to an account's holder, or to somebody who wants an account. The token of its link is made when it is sent. */
export interface NewAccountMail {
  readonly id: AccountMailId;
  /** Undefined in a `sign-up`, and only there. */
  readonly accountId: AccountId | undefined;
  readonly kind: AccountMailKind;
  /** The recipient, if it isn't the account's address. */
  readonly address?: string | undefined;
  /** What it is about: the URL and the description of a webhook, the name of a key, or how many changes. */
  readonly about?: string | undefined;
  /** Milliseconds until it is due. Default: at once. */
  readonly wait?: number;
  readonly createdAt: Instant;
  /** The mail isn't sent, and its link doesn't work, from this instant on. */
  readonly expiresAt: Instant;
}

export type NewLinkMail = NewAccountMail & { readonly accountId: AccountId; readonly kind: LinkKind };
export type NewSignUpMail = NewAccountMail & { readonly kind: 'sign-up'; readonly address: string };

/** Whether the mail may still be sent and its link still works. */
export function isUsable({ expiresAt }: Pick<NewAccountMail, 'expiresAt'>, now: Instant): boolean {
  return now < expiresAt;
}

/** Mails of one kind that an address gets in an hour. After that it gets one an hour. */
const MOST_MAILS = 5;

/**
 * Counts a mail to an address, whichever account asks for it. A time counts for an hour. Two times are at least an hour
 * apart, so mails that follow each other quickly get times in the future. A mail is refused only if another one was
 * sent within the last hour, so whoever reads the mails has a link of at most that age.
 */
export function decideMailTo({ times, sharedNow: now }: AttemptState): AttemptDecision {
  const kept = times.filter((time) => time > later(now, -HOUR));
  const [first] = kept;
  if (first !== undefined && kept.length >= MOST_MAILS) return { until: later(first, HOUR) };
  const last = kept.at(-1);
  const time = last === undefined ? now : instant(Math.max(now, later(last, HOUR)));
  return { until: undefined, times: [...kept, time], expiresAt: later(time, HOUR) };
}

/** An account that asks for a mail with a link. */
export interface LinkMailState {
  /** Undefined if there is no such account, or it is closed. */
  readonly account: Account | undefined;
  /** Its mails of that kind that are queued, or whose links work. */
  readonly usable: number;
}

export interface LinkMailRequest {
  /** Most mails that may be usable. */
  readonly most: number;
  /** The `credentialVersion` that the account must still have, if a person has signed in to ask. Default: any. */
  readonly credentialVersion?: number | undefined;
}

/** Whether the mail is queued. @throws SignedOut */
export function decideLinkMail(
  { account, usable }: LinkMailState,
  { most, credentialVersion }: LinkMailRequest,
): boolean {
  requireVersion(account, credentialVersion);
  return account !== undefined && usable < most;
}

/** A claimed mail that is about to be sent. */
export interface TokenState {
  /** Undefined if the account is closed. */
  readonly account: Account | undefined;
  /** Undefined if the mail isn't queued, or has been claimed again. */
  readonly mail: Pick<NewAccountMail, 'expiresAt'> | undefined;
}

/** Whether the mail's link gets another token. */
export function decideToken({ account, mail }: TokenState, now: Instant): boolean {
  return account !== undefined && mail !== undefined && isUsable(mail, now);
}

/** A claimed mail to somebody who wants an account, and who may have one. */
export interface SignUpMailState {
  readonly holder: Account | undefined;
  /** Undefined if the mail isn't queued, or has been claimed again. */
  readonly mail: Pick<NewAccountMail, 'createdAt' | 'expiresAt'> | undefined;
}

/**
 * What is sent: a link with which an account begins, or that the address has one. Undefined: nothing. Whoever has opened
 * the account since has used another link, and waits for no mail.
 */
export function decideSignUpMail({ holder, mail }: SignUpMailState, now: Instant): 'link' | 'has-account' | undefined {
  if (mail === undefined || !isUsable(mail, now)) return undefined;
  if (holder === undefined) return 'link';
  return holder.createdAt <= mail.createdAt ? 'has-account' : undefined;
}

export function newAccountMailId(cryptography: Cryptography): AccountMailId {
  return `mail_${randomBase62(24, cryptography)}` as AccountMailId;
}

export function newLinkMail(
  mail: Pick<NewLinkMail, 'accountId' | 'kind' | 'address'>,
  createdAt: Instant,
  cryptography: Cryptography,
): NewLinkMail {
  return { ...mail, id: newAccountMailId(cryptography), createdAt, expiresAt: later(createdAt, LINK_TTL) };
}

export function newSignUpMail(address: string, createdAt: Instant, cryptography: Cryptography): NewSignUpMail {
  const expiresAt = later(createdAt, SIGN_UP_TTL);
  return { id: newAccountMailId(cryptography), accountId: undefined, kind: 'sign-up', address, createdAt, expiresAt };
}
