import { decideEndingAccess, type Person } from './credentials.js';
import type { HolderPorts } from './ports.js';

export class EndAccess {
  constructor(private readonly ports: Pick<HolderPorts, 'clock' | 'credentials'>) {}

  /** Revokes all keys of the account and deletes its webhooks. @throws SignedOut */
  async execute(person: Person): Promise<void> {
    const now = this.ports.clock.now();
    await this.ports.credentials.change(person.accountId, (credentials) =>
      decideEndingAccess(credentials, person, now),
    );
  }
}
