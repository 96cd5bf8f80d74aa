import { setTimeout as delay } from 'node:timers/promises';
import type { AddressProofMail, PasswordMailer, PasswordResetMail } from '@adoption-store/domain';
import { mailFailure, openSmtpTransport } from '../mail/smtp-transport.js';

export interface PasswordMail {
  readonly smtpUrl: string;
  /** The sender's address. */
  readonly from: string;
  /** The page that sets the new password, for a token. */
  readonly resetUrl: (token: string) => string;
  /** The page that proves an address, for a token. */
  readonly proofUrl: (token: string) => string;
}

/** Timeout of one mail, in milliseconds. */
const TIMEOUT = 10_000;
/** Milliseconds for which closing waits for mails in progress. */
const CLOSING_TIME = 1_500;

/** Sends each mail once, by SMTP. */
export class SmtpPasswordMailer implements PasswordMailer {
  private readonly transport;
  private readonly underWay = new Set<Promise<unknown>>();

  /** @param onEvent called with a sentence about each failure, without the recipient. */
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

  /** Waits briefly for mails in progress; the rest fails. */
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
      // Base64 keeps the link on one line, however long it is.
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
