import type { AddressProofMail, PasswordMailer, PasswordResetMail } from '../accounts/password-mailer.js';

/** Delivers into a list. */
export class InMemoryPasswordMailer implements PasswordMailer {
  readonly sent: PasswordResetMail[] = [];
  readonly proofs: AddressProofMail[] = [];

  send(mail: PasswordResetMail): void {
    this.sent.push(mail);
  }

  sendProof(mail: AddressProofMail): void {
    this.proofs.push(mail);
  }
}
