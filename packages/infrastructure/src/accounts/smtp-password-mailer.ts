import { setTimeout as delay } from 'node:timers/promises';
import type { AddressProofMail, PasswordMailer, PasswordResetMail } from '@adoption-store/domain';
import { mailFailure, openSmtpTransport } from '../mail/smtp-transport.js';

export interface PasswordMail {
  readonly smtpUrl: string;
  /** The sender's address. */
  readonly from: string;
  /** Where a person sets the new password, by the token. */
  readonly resetUrl: (token: string) => string;
  /** Where a person proves an address, by the token. */
  readonly proofUrl: (token: string) => string;
}

/** Milliseconds for one mail. */
const TIMEOUT = 10_000;
/** Milliseconds that closing leaves to mails that are on their way. */
const CLOSING_TIME = 1_500;

/** Delivers by e-mail, one try each. */
export class SmtpPasswordMailer implements PasswordMailer {
  private readonly transport;
  private readonly underWay = new Set<Promise<unknown>>();

  /** @param onEvent told of what couldn't be delivered, without saying to whom. */
  constructor(
    private readonly mail: PasswordMail,
    private readonly onEvent: (message: string) => void,
  ) {
    this.transport = openSmtpTransport({ url: mail.smtpUrl, connections: 2 }, { from: mail.from });
  }

  send({ email, token, expiresAt }: PasswordResetMail): void {
    this.start('resets a password', email, 'Set a new password for the Animal Adoption Store', [
      'Somebody, hopefully you, has asked to set a new password for your account at the Animal Adoption Store.',
      `This link does it, once, until ${new Date(expiresAt).toUTCString()}:`,
      this.mail.resetUrl(token),
      'If it was not you, do nothing: your password stays as it is.',
    ]);
  }

  sendProof({ email, token, expiresAt }: AddressProofMail): void {
    this.start('proves an address', email, 'Confirm your e-mail address for the Animal Adoption Store', [
      'Somebody, hopefully you, has opened an account at the Animal Adoption Store with this e-mail address.',
      `If it was you, confirm the address by this link. It works once, until ${new Date(expiresAt).toUTCString()}:`,
      this.mail.proofUrl(token),
      'If it was not you, do not confirm it. To take the account over, set a new password by “Forgotten your password?” on ' +
        'the sign-in page: every API key that was made before then stops working.',
    ]);
  }

  /** Waits a little for what is on its way; the rest fails. */
  async close(): Promise<void> {
    await Promise.race([Promise.all(this.underWay), delay(CLOSING_TIME, undefined, { ref: false })]);
    this.transport.close({ force: true });
    await Promise.all(this.underWay);
  }

  private start(purpose: string, email: string, subject: string, paragraphs: readonly string[]): void {
    const mail = {
      signal: AbortSignal.timeout(TIMEOUT),
      to: { name: '', address: email },
      subject,
      text: [...paragraphs, ''].join('\n\n'),
      // Keeps the link in one piece, however long.
      encoding: 'base64',
    };
    const delivery: Promise<unknown> = this.transport
      .sendMail(mail)
      .catch((error: unknown) => {
        this.onEvent(`A mail that ${purpose} could not be sent (${mailFailure(error)}).`);
      })
      .finally(() => this.underWay.delete(delivery));
    this.underWay.add(delivery);
  }
}
