import type { SessionRepository } from './session-repository.js';

export class EndSession {
  constructor(private readonly sessions: SessionRepository) {}

  /** Ends the session for good: no request in progress can renew it. */
  async execute({ id }: { readonly id: string }): Promise<void> {
    await this.sessions.end(id);
  }
}
