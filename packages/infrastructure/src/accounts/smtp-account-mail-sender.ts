import { type AccountMail, type AccountMailKind, type AccountMailSender, RefusedForGood } from '@adoption-store/domain';
import { isRefusedRecipient, mailFailure, openSmtpTransport } from '../mail/smtp-transport.js';

/** The words of a mail; its link stands between the first two paragraphs and the rest. */
interface Words {
  readonly subject: string;
  readonly before: (until: string) => readonly string[];
  readonly after: string;
}

const WORDS: Readonly<Record<AccountMailKind, Words>> = {
  reset: {
    subject: 'Set a new password for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, has asked to set a new password for your account at the Animal Adoption Store.',
      `This link does it, once, until ${until}:`,
    ],
    after: 'If it was not you, do nothing: your password stays as it is.',
  },
  proof: {
    subject: 'Confirm your e-mail address for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, has opened an account at the Animal Adoption Store with this e-mail address.',
      `If it was you, confirm the address by this link. It works once, until ${until}:`,
    ],
    after:
      'If it was not you, do not confirm it. To take the account over, set a new password by “Forgotten your password?” on ' +
      'the sign-in page: every API key that was made before then stops working.',
  },
};

/** Delivers by e-mail. */
export class SmtpAccountMailSender implements AccountMailSender {
  private readonly transport;

  /** @param from the sender's address. */
  constructor({ smtpUrl, from }: { readonly smtpUrl: string; readonly from: string }) {
    this.transport = openSmtpTransport({ url: smtpUrl, connections: 2 }, { from });
  }

  async send({ kind, email, page, token, expiresAt }: AccountMail, timeout: number): Promise<void> {
    const { subject, before, after } = WORDS[kind];
    // Behind the #, which no server and no log is told.
    const paragraphs = [...before(new Date(expiresAt).toUTCString()), `${page}#${token}`, after, ''];
    // Aborting closes the connection that the mail is on its way by.
    const signal = AbortSignal.timeout(timeout);
    const mail = {
      signal,
      to: { name: '', address: email },
      subject,
      text: paragraphs.join('\n\n'),
      // Keeps the link in one piece, however long.
      encoding: 'base64',
    };
    const failure = await this.transport.sendMail(mail).then(
      () => undefined,
      // Without the original error, which may contain the address.
      (error: unknown) => {
        if (isRefusedRecipient(error)) return new RefusedForGood(mailFailure(error));
        return new Error(signal.aborted ? `no answer within ${timeout} ms` : mailFailure(error));
      },
    );
    if (failure !== undefined) throw failure;
  }

  /** Ends the connections. A mail that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
