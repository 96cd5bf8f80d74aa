import type { Instant } from '../kernel/clock.js';

export interface PasswordResetMail {
  readonly email: string;
  /** What `resetPassword` takes. */
  readonly token: string;
  readonly expiresAt: Instant;
}

/** Port: mails to people what resets their passwords. */
export interface PasswordMailer {
  /**
   * Takes the mail for delivery. Nobody waits for that and it never fails, as either would tell a stranger who has an
   * account: what can't be delivered the operator is told of, and the person asks again.
   */
  send(mail: PasswordResetMail): void;
}
