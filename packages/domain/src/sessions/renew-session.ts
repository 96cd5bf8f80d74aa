import type { Account } from '../accounts/account.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { SESSION_TOKEN_LENGTH } from './begin-session.js';
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
    const token = randomBase62(SESSION_TOKEN_LENGTH, this.cryptography);
    const now = this.clock.now();
    const isThere = await this.sessions.renew({
      id,
      tokenHash: this.cryptography.sha256(token),
      accountId: account.id,
      credentialVersion: account.credentialVersion,
      begunAt: now,
      usedAt: now,
    });
    return isThere ? token : undefined;
  }
}
