import { randomBase62 } from '../kernel/base62.js';
import { type Clock, DAY, later } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type Account, isProven } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import type { PasswordMailer } from './password-mailer.js';

export const PROOF_TTL = DAY;
/**
 * Usable proofs that an account may have at once. This also bounds the mails that a stranger can send to an address in
 * a day.
 */
export const MOST_PROOFS = 3;
const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

export class RequestAddressProof {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly mailer: PasswordMailer | undefined,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /**
   * Mails a token that proves the account's address once, within a day. False, and no mail, if mail isn't configured,
   * the address is proven already, or the account has `MOST_PROOFS` usable tokens.
   */
  async execute(account: Account): Promise<boolean> {
    if (this.mailer === undefined || isProven(account)) return false;
    const token = randomBase62(TOKEN_LENGTH, this.cryptography);
    const now = this.clock.now();
    const expiresAt = later(now, PROOF_TTL);
    const proof = { accountId: account.id, tokenHash: this.cryptography.sha256(token), createdAt: now, expiresAt };
    if (!(await this.credentials.addProof(proof, MOST_PROOFS))) return false;
    this.mailer.sendProof({ email: account.email, token, expiresAt });
    return true;
  }
}
