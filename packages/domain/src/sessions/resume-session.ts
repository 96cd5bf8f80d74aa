import type { Account } from '../accounts/account.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { sessionEnd, usedSession } from './session.js';
import type { SessionRepository } from './session-repository.js';

/** A signed-in person and their session. */
export interface SignedInPerson {
  readonly sessionId: string;
  readonly account: Account;
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
    return { sessionId: session.id, account };
  }
}
