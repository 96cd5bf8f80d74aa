import type { Account, AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Session, SessionState } from './session.js';

/**
 * Port: the sessions. Only `add` creates one, so nothing else can bring back an ended session. Each method is atomic.
 */
export interface SessionRepository {
  /**
   * Adds the session that `decide` returns, if any, and returns it. `decide` is called once, with the account locked, so
   * that its password doesn't change meanwhile. A closed account is undefined.
   */
  add(
    accountId: AccountId,
    decide: (account: Account | undefined) => Session | undefined,
  ): Promise<Session | undefined>;
  /** The session with that token. Undefined if its account is closed. */
  find(tokenHash: string): Promise<SessionState | undefined>;
  /** Stores the time of the last use. False if the session has ended, or its token was replaced. */
  use(session: Session): Promise<boolean>;
  /** Replaces token, version and times of the session with that id. False if it has ended. */
  renew(session: Session): Promise<boolean>;
  /** Ends the session, even if its token was replaced meanwhile. */
  end(id: string): Promise<void>;
  /** Ends all current sessions of the account. */
  endAll(accountId: AccountId): Promise<void>;
  /** Deletes the sessions that are over at that instant. Returns their number. */
  purge(until: Instant): Promise<number>;
}
