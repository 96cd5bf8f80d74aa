import type { PasswordMailer, PasswordResetMail } from '../accounts/password-mailer.js';

/** Delivers into a list. */
export class InMemoryPasswordMailer implements PasswordMailer {
  readonly sent: PasswordResetMail[] = [];

  send(mail: PasswordResetMail): void {
    this.sent.push(mail);
  }
}
