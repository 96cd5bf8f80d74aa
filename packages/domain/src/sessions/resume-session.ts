import type { Account } from '../accounts/account.js';
import { later } from '../kernel/clock.js';
import { decideUse, LONGEST_SESSION, sessionEnd } from './session.js';
import type { SessionPorts } from './ports.js';

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
  constructor(private readonly ports: Pick<SessionPorts, 'sessions' | 'cryptography' | 'clock'>) {}

  /** Finds the session and records its use. Undefined if it is unknown or over. */
  async execute(token: string): Promise<SignedInPerson | undefined> {
    const found = await this.ports.sessions.find(this.ports.cryptography.sha256(token));
    if (found === undefined) return undefined;
    const now = this.ports.clock.now();
    const session = decideUse(found, now);
    if (session === undefined) return undefined;
    if (session !== found.session && !(await this.ports.sessions.use(session))) return undefined;
    const left = sessionEnd(session) - now;
    return { sessionId: session.id, account: found.account, left, most: later(session.begunAt, LONGEST_SESSION) - now };
  }
}
