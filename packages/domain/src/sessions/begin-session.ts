import type { Account } from '../accounts/account.js';
import { randomBase62 } from '../kernel/base62.js';
import { decideBeginning, newSession } from './session.js';
import type { SessionPorts } from './ports.js';

const ID_LENGTH = 22; // 22 · log2(62) = 130 bits

export interface BeginSessionInput {
  /** The account as it was when its password was checked. */
  readonly account: Account;
  /** The browser's previous session, which ends. */
  readonly replacing?: string | undefined;
}

export class BeginSession {
  constructor(private readonly ports: Pick<SessionPorts, 'sessions' | 'cryptography' | 'clock'>) {}

  /**
   * The new session's token. Undefined if the account was closed, or its password changed or reset, in the meantime.
   */
  async execute({ account, replacing }: BeginSessionInput): Promise<string | undefined> {
    if (replacing !== undefined) await this.ports.sessions.end(replacing);
    const id = randomBase62(ID_LENGTH, this.ports.cryptography);
    const { token, session } = newSession(id, account, this.ports.clock.now(), this.ports.cryptography);
    const begun = await this.ports.sessions.add(account.id, (current) => decideBeginning(current, session));
    return begun && token;
  }
}
