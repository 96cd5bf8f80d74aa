import type { AccountId } from '../accounts/account.js';
import type { SessionPorts } from './ports.js';

export class EndSession {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions'>) {}

  /** Ends the session for good: no request in progress can renew it. */
  async execute({ id }: { readonly id: string }): Promise<void> {
    await this.ports.sessions.end(id);
  }
}

export class EndAllSessions {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions'>) {}

  /** Ends every session of the account for good, also the one in which this is asked for. */
  async execute({ accountId }: { readonly accountId: AccountId }): Promise<void> {
    await this.ports.sessions.endAll(accountId);
  }
}
