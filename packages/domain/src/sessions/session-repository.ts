import type { Account } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Session } from './session.js';

/** Port: who is signed in. Only `add` makes a session, so that nothing else brings back one that has ended. Each method is atomic. */
export interface SessionRepository {
  /** Whether it was added: only where its account is open and has that credential version still. */
  add(session: Session): Promise<boolean>;
  /** With its account, which is open and has that credential version still. */
  find(tokenHash: string): Promise<{ readonly session: Session; readonly account: Account } | undefined>;
  /** Keeps when it was used last. False where it has ended, or has another token by now. */
  use(session: Session): Promise<boolean>;
  /** Gives the session with that id the token, version and times. False where it has ended. */
  renew(session: Session): Promise<boolean>;
  /** Ends the session, whichever token it has by now. */
  end(id: string): Promise<void>;
  /** Deletes the sessions that were over at that instant; how many. */
  forget(until: Instant): Promise<number>;
}
