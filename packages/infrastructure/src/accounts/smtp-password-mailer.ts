import { setTimeout as delay } from 'node:timers/promises';
import type { PasswordMailer, PasswordResetMail } from '@adoption-store/domain';
import { openSmtpTransport } from '../mail/smtp-transport.js';

export interface PasswordMail {
  readonly smtpUrl: string;
  /** The sender's address. */
  readonly from: string;
  /** Where a person sets the new password, by the token. */
  readonly resetUrl: (token: string) => string;
}

/** Milliseconds for one mail. */
const TIMEOUT = 10_000;
/** Milliseconds that closing leaves to mails that are on their way. */
const CLOSING_TIME = 1_500;

/** Delivers by e-mail, one try each. */
export class SmtpPasswordMailer implements PasswordMailer {
  private readonly transport;
  private readonly underWay = new Set<Promise<void>>();

  /** @param onEvent told of what couldn't be delivered, without saying to whom. */
  constructor(
    private readonly mail: PasswordMail,
    private readonly onEvent: (message: string) => void,
  ) {
    this.transport = openSmtpTransport({ url: mail.smtpUrl, connections: 2 }, { from: mail.from });
  }

  send(mail: PasswordResetMail): void {
    const delivery = this.deliver(mail)
      .catch((error: unknown) => {
        this.onEvent(`A mail that resets a password could not be sent (${reasonOf(error)}).`);
      })
      .finally(() => this.underWay.delete(delivery));
    this.underWay.add(delivery);
  }

  /** Waits a little for what is on its way; the rest fails. */
  async close(): Promise<void> {
    const isOver = new AbortController();
    const patience = delay(CLOSING_TIME, undefined, { signal: isOver.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.underWay), patience]);
    isOver.abort();
    this.transport.close({ force: true });
    await Promise.all(this.underWay);
  }

  private async deliver({ email, token, expiresAt }: PasswordResetMail): Promise<void> {
    await this.transport.sendMail({
      signal: AbortSignal.timeout(TIMEOUT),
      to: { name: '', address: email },
      subject: 'Set a new password for the Animal Adoption Store',
      text: [
        'Somebody, hopefully you, has asked to set a new password for your account at the Animal Adoption Store.',
        `This link does it, once, until ${new Date(expiresAt).toUTCString()}:`,
        this.mail.resetUrl(token),
        'If it was not you, do nothing: your password stays as it is.',
        '',
      ].join('\n\n'),
      // Keeps the link in one piece, however long.
      encoding: 'base64',
    });
  }
}

/** By its code alone: its message may tell the mail server's user, or whom the mail was for. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return 'responseCode' in error && typeof error.responseCode === 'number' ? `${code} ${error.responseCode}` : code;
}
