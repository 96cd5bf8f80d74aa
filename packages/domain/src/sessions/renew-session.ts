import type { Account } from '../accounts/account.js';
import { newSession } from './session.js';
import type { SessionPorts } from './ports.js';

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
