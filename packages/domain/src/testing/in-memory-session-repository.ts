import type { Account, AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import { type Session, sessionEnd, type SessionState } from '../sessions/session.js';
import type { SessionRepository } from '../sessions/session-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';

export class InMemorySessionRepository implements SessionRepository {
  private readonly sessions = new Map<string, Session>();

  constructor(private readonly accounts: InMemoryAccountRepository) {}

  async add(
    accountId: AccountId,
    decide: (account: Account | undefined) => Session | undefined,
  ): Promise<Session | undefined> {
    const session = decide(this.accounts.stored(accountId)?.account);
    if (session !== undefined) this.sessions.set(session.id, session);
    return session;
  }

  async find(tokenHash: string): Promise<SessionState | undefined> {
    const session = [...this.sessions.values()].find((each) => each.tokenHash === tokenHash);
    const account = session && this.accounts.stored(session.accountId)?.account;
    return account && { session, account };
  }

  async use({ id, tokenHash, usedAt }: Session): Promise<boolean> {
    const session = this.sessions.get(id);
    if (session?.tokenHash !== tokenHash) return false;
    this.sessions.set(id, { ...session, usedAt });
    return true;
  }

  async renew(session: Session): Promise<boolean> {
    if (!this.sessions.has(session.id)) return false;
    this.sessions.set(session.id, session);
    return true;
  }

  async end(id: string): Promise<void> {
    this.sessions.delete(id);
  }

  async endAll(accountId: AccountId): Promise<void> {
    for (const session of this.sessions.values()) if (session.accountId === accountId) this.sessions.delete(session.id);
  }

  async purge(until: Instant): Promise<number> {
    const over = [...this.sessions.values()].filter((session) => sessionEnd(session) <= until);
    for (const { id } of over) this.sessions.delete(id);
    return over.length;
  }
}
