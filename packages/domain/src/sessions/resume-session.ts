import type { Account } from '../accounts/account.js';
import { type Clock, later } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { LONGEST_SESSION, sessionEnd, usedSession } from './session.js';
import type { SessionRepository } from './session-repository.js';

/** A signed-in person and their session. */
export interface SignedInPerson {
  readonly sessionId: string;
  readonly account: Account;
  /** Milliseconds until the session ends unless it is used again. */
  readonly left: number;
  /** Milliseconds until it ends even if it is used. */
  readonly most: number;
}

export class ResumeSession {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** Finds the session and records its use. Undefined if it is unknown or over. */
  async execute(token: string): Promise<SignedInPerson | undefined> {
    const found = await this.sessions.find(this.cryptography.sha256(token));
    const now = this.clock.now();
    if (found === undefined || now >= sessionEnd(found.session)) return undefined;
    const { session, account } = found;
    const used = usedSession(session, now);
    if (used !== undefined && !(await this.sessions.use(used))) return undefined;
    const left = sessionEnd(used ?? session) - now;
    return { sessionId: session.id, account, left, most: later(session.begunAt, LONGEST_SESSION) - now };
  }
}
