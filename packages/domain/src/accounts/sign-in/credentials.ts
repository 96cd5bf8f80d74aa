import type { Instant } from '../../kernel/clock.js';
import { invalid } from '../../kernel/errors.js';
import {
  type Account,
  type AccountId,
  closedEmail,
  emailTaken,
  isProven,
  type NewAccount,
  requireVersion,
} from '../account.js';
import { type AccountMailId, isUsable, LINK_KINDS, type LinkKind, type NewAccountMail } from '../mails/account-mail.js';
import { newNotice } from '../mails/notice.js';
import { PLANS } from '../plan.js';

export interface Credentials {
  readonly account: Account;
  /** Undefined while an account that the operator opened has no password. */
  readonly passwordHash: string | undefined;
}

/** A link with which an account begins, and that hasn't been used. */
export interface SignUpLink {
  /** The address to which it was mailed. */
  readonly email: string;
  readonly expiresAt: Instant;
  readonly holder: Account | undefined;
}

/** What a decision on an open account's credentials changes. */
export interface CredentialsChange {
  /** The credentials after the change. */
  readonly credentials: Credentials;
  /** The kinds of links that are revoked. Their queued mails aren't sent. Default: none. */
  readonly revokedLinks?: readonly LinkKind[];
  /** If given, the keys that haven't ended by then are revoked at that instant, and the webhooks are deleted. */
  readonly keysRevokedAt?: Instant | undefined;
  /** A mail to queue, as `decideNotice` decides. */
  readonly notice?: NewAccountMail | undefined;
  /** If given, the account is closed: its refusals and hourly usage are deleted, and it is never found again. */
  readonly closedAt?: Instant;
}

export interface NewCredentials {
  readonly account: NewAccount & Pick<Account, 'credentialVersion' | 'provenAt'>;
  readonly passwordHash: string;
}

/** An existing account is never taken over. @throws DomainError `email_taken` */
export function decideSignUp(
  holder: Account | undefined,
  { passwordHash, ...opened }: Pick<NewAccount, 'email' | 'scopes'> & Pick<NewCredentials, 'passwordHash'>,
  now: Instant,
): NewCredentials {
  if (holder !== undefined) throw emailTaken();
  const account = { ...opened, plan: PLANS.free, createdAt: now, credentialVersion: 1, provenAt: undefined };
  return { account, passwordHash };
}

/**
 * Opens the account of the address to which the link was mailed, which proves it. Undefined if the link doesn't work.
 *
 * @throws DomainError `email_taken`
 */
export function decideProvenSignUp(
  link: SignUpLink | undefined,
  command: Pick<NewAccount, 'scopes'> & Pick<NewCredentials, 'passwordHash'>,
  now: Instant,
): NewCredentials | undefined {
  if (link === undefined || !isUsable(link, now)) return undefined;
  const { account, passwordHash } = decideSignUp(link.holder, { email: link.email, ...command }, now);
  return { account: { ...account, provenAt: now }, passwordHash };
}

interface Noticed {
  readonly noticeId: AccountMailId;
}

/** The hash that was checked, which must still be the stored one, and the new hash. */
export interface PasswordChange {
  readonly current: string;
  readonly next: string;
}

/**
 * Ends all sessions, and revokes links that others may have requested. Undefined if the password was changed meanwhile.
 *
 * If the address is unproven, the account's holder may be a stranger, who must not revoke the links mailed to the owner
 * of the address.
 */
export function decidePasswordChange(
  credentials: Credentials | undefined,
  { current, next, noticeId }: PasswordChange & Noticed,
  now: Instant,
): CredentialsChange | undefined {
  if (credentials?.passwordHash !== current) return undefined;
  const { account } = credentials;
  const revokedLinks: readonly LinkKind[] = isProven(account) ? ['reset', 'change'] : ['change'];
  const notice = newNotice(account, { id: noticeId, kind: 'password' }, now);
  return { credentials: withPassword(credentials, next), revokedLinks, notice };
}

/** A new hash of the same password, so sessions continue. Undefined if the password was changed meanwhile. */
export function decideRehash(
  credentials: Credentials | undefined,
  { current, next }: PasswordChange,
): CredentialsChange | undefined {
  if (credentials?.passwordHash !== current) return undefined;
  return { credentials: { ...credentials, passwordHash: next } };
}

/** Undefined if the password was changed meanwhile. */
export function decideClosing(
  credentials: Credentials | undefined,
  { current, noticeId }: Pick<PasswordChange, 'current'> & Noticed,
  now: Instant,
): CredentialsChange | undefined {
  if (credentials?.passwordHash !== current) return undefined;
  const { account } = withPassword(credentials, undefined);
  return {
    credentials: { account: { ...account, email: closedEmail(account.id) }, passwordHash: undefined },
    revokedLinks: LINK_KINDS,
    keysRevokedAt: now,
    notice: newNotice(account, { id: noticeId, kind: 'closed' }, now),
    closedAt: now,
  };
}

/** A link that was mailed and hasn't been used or revoked, and the account that it is for. */
export interface MailedLink {
  readonly credentials: Credentials;
  readonly expiresAt: Instant;
  /** The address to which it was mailed, if that isn't the account's. */
  readonly address: string | undefined;
  /** Whether that address has an account. */
  readonly isAddressTaken: boolean;
}

/**
 * Sets the password and proves the address, to which the link was mailed. Undefined if the link doesn't work.
 *
 * If the address wasn't proven before, the keys are revoked and the webhooks deleted, because a stranger may have made
 * them.
 */
export function decideReset(
  link: MailedLink | undefined,
  { passwordHash, noticeId }: { readonly passwordHash: string } & Noticed,
  now: Instant,
): CredentialsChange | undefined {
  if (!works(link, now)) return undefined;
  const { credentials } = link;
  const changed = withPassword(proven(credentials, now), passwordHash);
  return {
    credentials: changed,
    revokedLinks: LINK_KINDS,
    keysRevokedAt: isProven(credentials.account) ? undefined : now,
    notice: newNotice(changed.account, { id: noticeId, kind: 'recovered' }, now),
  };
}

/** Whoever confirms a new address: the person of a session, or somebody who knows the account's password. */
export type Confirmer =
  | { readonly person: Person }
  /** The hash that was checked, which must still be the stored one. */
  | { readonly current: string };

/** Somebody who is signed in. */
export interface Person {
  readonly accountId: AccountId;
  readonly credentialVersion: number;
}

/**
 * Gives the account the address to which the link was mailed, and proves it. Tells the former address, if it was proven.
 * Undefined if the link doesn't work, or the password was changed meanwhile.
 *
 * @throws SignedOut; DomainError `email_taken` if an account with the new address was opened meanwhile.
 */
export function decideAddressChange(
  link: MailedLink | undefined,
  { noticeId, confirmer }: Noticed & { readonly confirmer: Confirmer },
  now: Instant,
): CredentialsChange | undefined {
  if (!works(link, now) || link.address === undefined) return undefined;
  if ('person' in confirmer) {
    requireOwnLink(link, confirmer.person);
    requireVersion(link.credentials.account, confirmer.person.credentialVersion);
  } else if (link.credentials.passwordHash !== confirmer.current) return undefined;
  if (link.isAddressTaken) throw emailTaken();
  const { account, passwordHash } = link.credentials;
  return {
    credentials: { account: { ...account, email: link.address, provenAt: now }, passwordHash },
    revokedLinks: LINK_KINDS,
    notice: newNotice(account, { id: noticeId, kind: 'changed' }, now),
  };
}

/** @throws DomainError `invalid_parameter` if the link is one of another account. */
export function requireOwnLink({ credentials }: MailedLink, { accountId }: Pick<Person, 'accountId'>): void {
  if (credentials.account.id === accountId) return;
  throw invalid('token', 'must be a link of the account that is signed in. Sign out first: the link stays usable');
}

/**
 * Ends what may act for the account without its password: its keys and its webhooks.
 *
 * @throws SignedOut
 */
export function decideEndingAccess(
  credentials: Credentials | undefined,
  { credentialVersion }: Pick<Person, 'credentialVersion'>,
  now: Instant,
): CredentialsChange | undefined {
  requireVersion(credentials?.account, credentialVersion);
  return credentials && { credentials, keysRevokedAt: now };
}

function works(link: MailedLink | undefined, now: Instant): link is MailedLink {
  return link !== undefined && isUsable(link, now);
}

/** All sessions end, because `credentialVersion` changes. */
function withPassword({ account }: Credentials, passwordHash: string | undefined): Credentials {
  return { account: { ...account, credentialVersion: account.credentialVersion + 1 }, passwordHash };
}

function proven({ account, passwordHash }: Credentials, now: Instant): Credentials {
  return { account: { ...account, provenAt: account.provenAt ?? now }, passwordHash };
}
