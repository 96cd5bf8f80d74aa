import type { SessionRepository } from './session-repository.js';

export class EndSession {
  constructor(private readonly sessions: SessionRepository) {}

  /** For good: what is under way in that session goes on without it. */
  async execute({ id }: { readonly id: string }): Promise<void> {
    await this.sessions.end(id);
  }
}
