import type { Account, AccountId } from '../accounts/account.js';
import { randomBase62 } from '../kernel/base62.js';
import { later } from '../kernel/clock.js';
import type { SessionPorts } from './ports.js';
import { decideBeginning, decideUse, LONGEST_SESSION, newSession, sessionEnd } from './session.js';

const ID_LENGTH = 22; // 22 · log2(62) = 130 bits

export interface BeginSessionInput {
  /** The account as it was when its password was checked. */
  readonly account: Account;
  /** The id of the browser's previous session, which ends. */
  readonly replacing?: string | undefined;
}

export class BeginSession {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions' | 'cryptography' | 'clock'>) {}

  /** The new session's token. Undefined if the account was closed, or its password changed or reset, meanwhile. */
  async execute({ account, replacing }: BeginSessionInput): Promise<string | undefined> {
    if (replacing !== undefined) await this.ports.sessions.end(replacing);
    const id = randomBase62(ID_LENGTH, this.ports.cryptography);
    const { token, session } = newSession(id, account, this.ports.clock.now(), this.ports.cryptography);
    const begun = await this.ports.sessions.add(account.id, (current) => decideBeginning(current, session));
    return begun && token;
  }
}

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

export interface RenewSessionInput {
  readonly id: string;
  /** The account after its password change. */
  readonly account: Account;
}

export class RenewSession {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions' | 'cryptography' | 'clock'>) {}

  /** A new token for the session in which the password was changed. Undefined if the session has ended. */
  async execute({ id, account }: RenewSessionInput): Promise<string | undefined> {
    const { token, session } = newSession(id, account, this.ports.clock.now(), this.ports.cryptography);
    return (await this.ports.sessions.renew(session)) ? token : undefined;
  }
}

export class EndSession {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions'>) {}

  /** Ends the session for good. A request in progress can't renew it. */
  async execute({ id }: { readonly id: string }): Promise<void> {
    await this.ports.sessions.end(id);
  }
}

export class EndAllSessions {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions'>) {}

  /** Ends every session of the account for good, including that of the request. */
  async execute({ accountId }: { readonly accountId: AccountId }): Promise<void> {
    await this.ports.sessions.endAll(accountId);
  }
}
