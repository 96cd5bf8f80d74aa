import { randomBase62 } from '../kernel/base62.js';
import { type Clock, HOUR, later } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import { readEmailAddress } from './account.js';
import type { CredentialRepository } from './credential-repository.js';
import type { PasswordMailer } from './password-mailer.js';

export const RESET_TTL = HOUR;
/**
 * Usable resets that an account may have at once. This also bounds the mails that a stranger can send to it in an hour.
 */
export const MOST_RESETS = 3;
const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

export class RequestPasswordReset {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly mailer: PasswordMailer | undefined,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
  ) {}

  /** Whether mail can be sent. */
  get isAvailable(): boolean {
    return this.mailer !== undefined;
  }

  /**
   * Mails a token that sets a password once, within an hour, to the account of that address, also if the operator
   * opened it and it has no password yet. The result doesn't tell whether there is such an account.
   *
   * @throws DomainError `service_unavailable` if mail isn't configured.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    if (this.mailer === undefined) throw new DomainError('service_unavailable', 'no mail can be sent here');
    const email = readEmailAddress(input.email);
    const found = email === undefined ? undefined : await this.credentials.findByEmail(email);
    if (found === undefined) return;
    const { account } = found;
    const token = randomBase62(TOKEN_LENGTH, this.cryptography);
    const now = this.clock.now();
    const expiresAt = later(now, RESET_TTL);
    const reset = { accountId: account.id, tokenHash: this.cryptography.sha256(token), createdAt: now, expiresAt };
    if (await this.credentials.addReset(reset, MOST_RESETS))
      this.mailer.send({ email: account.email, token, expiresAt });
  }
}
