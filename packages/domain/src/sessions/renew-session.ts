import type { Account } from '../accounts/account.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { newSession } from './session.js';
import type { SessionRepository } from './session-repository.js';

export interface RenewSessionInput {
  readonly id: string;
  /** The account after its password change. */
  readonly account: Account;
}

export class RenewSession {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** A new token for the session in which the password was changed. Undefined if the session has ended. */
  async execute({ id, account }: RenewSessionInput): Promise<string | undefined> {
    const { token, session } = newSession(id, account, this.clock.now(), this.cryptography);
    return (await this.sessions.renew(session)) ? token : undefined;
  }
}
