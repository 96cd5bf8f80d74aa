import type { AccountId } from '../accounts/account.js';
import { HOUR, type Instant, instant, later, MINUTE } from '../kernel/clock.js';

/** A session ends when it wasn't used for so long. */
export const SESSION_IDLE_TIME = 30 * MINUTE;
/** A session ends after so long, however much it is used. */
export const LONGEST_SESSION = 12 * HOUR;
/** How exactly it is known when a session was used last: each page would be a write otherwise. */
const USE_PRECISION = MINUTE;

/** Somebody is signed in in one browser. */
export interface Session {
  /** Stays the same when the session gets another token. */
  readonly id: string;
  /** SHA-256 of what the browser keeps. */
  readonly tokenHash: string;
  readonly accountId: AccountId;
  /** The account's when the session began: with another one it is over. */
  readonly credentialVersion: number;
  readonly begunAt: Instant;
  readonly usedAt: Instant;
}

/** From this instant on it is over, unless it is used before. */
export function sessionEnd({ begunAt, usedAt }: Pick<Session, 'begunAt' | 'usedAt'>): Instant {
  return instant(Math.min(later(usedAt, SESSION_IDLE_TIME), later(begunAt, LONGEST_SESSION)));
}

/** The session after a use that is worth keeping; undefined where the last one is recent enough. */
export function usedSession(session: Session, now: Instant): Session | undefined {
  return now >= later(session.usedAt, USE_PRECISION) ? { ...session, usedAt: now } : undefined;
}
