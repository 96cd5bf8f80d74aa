import type { Account, AccountId } from '../accounts/account.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { HOUR, type Instant, instant, later, MINUTE } from '../kernel/clock.js';

/** A session ends after this time without use. */
export const SESSION_IDLE_TIME = 30 * MINUTE;
/** A session ends after this time, even if it is in use. */
export const LONGEST_SESSION = 12 * HOUR;
/** The last use is stored at most this often, so that not every page is a write. */
const USE_PRECISION = MINUTE;

/** A person signed in on one browser. */
export interface Session {
  /** Stays the same when the session gets a new token. */
  readonly id: string;
  /** SHA-256 of the token that the browser keeps. */
  readonly tokenHash: string;
  readonly accountId: AccountId;
  /** The account's version when the session began. The session is over once the account's version differs. */
  readonly credentialVersion: number;
  readonly begunAt: Instant;
  readonly usedAt: Instant;
}

/** The session is over from this instant on, unless it is used before. */
export function sessionEnd({ begunAt, usedAt }: Pick<Session, 'begunAt' | 'usedAt'>): Instant {
  return instant(Math.min(later(usedAt, SESSION_IDLE_TIME), later(begunAt, LONGEST_SESSION)));
}

/** A session, and its account as it is now. */
export interface SessionState {
  readonly session: Session;
  readonly account: Account;
}

/** The session after this use. Unchanged if its last stored use is recent enough. Undefined if it is over. */
export function decideUse({ session, account }: SessionState, now: Instant): Session | undefined {
  if (!isOf(account, session) || now >= sessionEnd(session)) return undefined;
  return now >= later(session.usedAt, USE_PRECISION) ? { ...session, usedAt: now } : session;
}

/** The session. Undefined if, after the password was checked, the account was closed or its password changed. */
export function decideBeginning(account: Account | undefined, session: Session): Session | undefined {
  return isOf(account, session) ? session : undefined;
}

/** Each change of the account's password ends the sessions that began before. */
function isOf(account: Account | undefined, { credentialVersion }: Session): boolean {
  return account?.credentialVersion === credentialVersion;
}

const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

/** A new session. With the id of an existing one, that session with a new token, after a change of password. */
export function newSession(
  id: string,
  { id: accountId, credentialVersion }: Account,
  now: Instant,
  cryptography: Cryptography,
): { readonly token: string; readonly session: Session } {
  const token = randomBase62(TOKEN_LENGTH, cryptography);
  const tokenHash = cryptography.sha256(token);
  return { token, session: { id, tokenHash, accountId, credentialVersion, begunAt: now, usedAt: now } };
}
