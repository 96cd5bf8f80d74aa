import type { Instant } from '../kernel/clock.js';

/** A mail with a link that works once. */
export interface PasswordResetMail {
  readonly email: string;
  /** The token for `resetPassword`. */
  readonly token: string;
  readonly expiresAt: Instant;
}

/** A mail whose token is for `proveAddress`. */
export type AddressProofMail = PasswordResetMail;

/** Port: sends people the links that reset their passwords and prove their addresses. */
export interface PasswordMailer {
  /**
   * Queues the mail. It returns at once and never fails, because either would tell a stranger whether there is an
   * account. A mail that can't be delivered is reported to the operator, and the person can ask again.
   */
  send(mail: PasswordResetMail): void;
  /** Returns at once and never fails, as `send`. */
  sendProof(mail: AddressProofMail): void;
}
