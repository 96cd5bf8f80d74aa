import type { Instant } from '../kernel/clock.js';

/** A mail with a link that works once. */
export interface PasswordResetMail {
  readonly email: string;
  /** The token that `resetPassword` takes. */
  readonly token: string;
  readonly expiresAt: Instant;
}

/** The token is what `proveAddress` takes. */
export type AddressProofMail = PasswordResetMail;

/** Port: mails to people what resets their passwords and proves their addresses. */
export interface PasswordMailer {
  /**
   * Takes the mail for delivery. Nobody waits for that and it never fails, as either would tell a stranger who has an
   * account: what can't be delivered the operator is told of, and the person asks again.
   */
  send(mail: PasswordResetMail): void;
  /** As `send` does. */
  sendProof(mail: AddressProofMail): void;
}
