import type { AccountId } from '../accounts/account.js';
import type { SessionRepository } from './session-repository.js';

export class EndAllSessions {
  constructor(private readonly sessions: SessionRepository) {}

  /** Ends every session of the account for good, also the one in which this is asked for. */
  async execute({ accountId }: { readonly accountId: AccountId }): Promise<void> {
    await this.sessions.endAll(accountId);
  }
}
