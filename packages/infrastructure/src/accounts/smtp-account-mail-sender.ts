import { type AccountMail, type AccountMailKind, type AccountMailSender, RefusedForGood } from '@adoption-store/domain';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { isRefusedRecipient, mailFailure } from '../deliveries/mail-failure.js';
import { needsUtf8, offersUtf8, openSmtpTransport, type SmtpDelivery } from '../deliveries/smtp-transport.js';

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** The text of a mail. The link comes between `before` and `after`. */
interface Words {
  readonly subject: string;
  readonly before: (until: string, about: string) => readonly string[];
  readonly after: (contact: string) => string;
}

const WORDS: Readonly<Record<AccountMailKind, Words>> = {
  reset: {
    subject: 'Set a new password for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, has asked to set a new password for your account at the Animal Adoption Store.',
      `Open this link to set it. The link works once, until ${until}:`,
    ],
    after: () => 'If it was not you, do nothing: your password stays as it is.',
  },
  proof: {
    subject: 'Confirm your e-mail address for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, has opened an account at the Animal Adoption Store with this e-mail address.',
      `If it was you, open this link to confirm the address. The link works once, until ${until}:`,
    ],
    after: () =>
      'If it was not you, do not confirm it. To take the account over, set a new password by “Forgotten your password?” on ' +
      'the sign-in page: every API key that was made before then stops working.',
  },
  change: {
    subject: 'Confirm your new e-mail address for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, wants to use this e-mail address for an account at the Animal Adoption Store.',
      `If it was you, open this link to confirm the address. The link works once, until ${until}:`,
    ],
    after: () => 'If it was not you, do nothing: the account keeps its present address.',
  },
  changed: {
    subject: 'The e-mail address of your Animal Adoption Store account has changed',
    before: () => [
      'The e-mail address of your account at the Animal Adoption Store was changed. From now on you sign in with the new ' +
        'address, and mails go there. Your password and your API keys stay the same.',
    ],
    after: (contact) => `If it was not you, somebody else knows your password. Contact ${contact} at once.`,
  },
  webhook: {
    subject: 'A webhook of your Animal Adoption Store account was disabled',
    before: (_until, about) => [
      'A webhook of your account at the Animal Adoption Store was disabled, because every delivery to it has failed for 5 ' +
        'days. It is sent nothing more. It is the webhook to this URL:',
      about,
      'Once its receiver works again, enable the webhook. Then recover it, by the API, to get what it has missed.',
    ],
    after: (contact) => `If you need help, contact ${contact}.`,
  },
};

export class SmtpAccountMailSender implements AccountMailSender {
  private readonly transport;
  private readonly contact;
  private readonly takesUtf8: (timeout: number) => Promise<boolean>;

  constructor({ smtpUrl, from, contact = 'the operator of the service' }: Omit<SmtpDelivery, 'to' | 'connections'>) {
    this.contact = contact;
    this.takesUtf8 = async (timeout) => offersUtf8(smtpUrl, from, timeout);
    this.transport = openSmtpTransport({ url: smtpUrl, connections: 2 }, { from });
  }

  async send({ kind, email, page, about = '', token, expiresAt }: AccountMail, timeout: number): Promise<void> {
    const { subject, before, after } = WORDS[kind];
    // Browsers don't send what is after the #, so no server logs the token.
    const link = token === undefined ? [] : [`${page}#${token}`];
    const paragraphs = [...before(`${TIME.format(expiresAt)} UTC`, about), ...link, after(this.contact), ''];
    const mail = {
      to: { name: '', address: email },
      subject,
      text: paragraphs.join('\n\n'),
      // Base64 keeps a long link in one piece.
      encoding: 'base64',
    };
    if (needsUtf8(email)) await this.requireUtf8(timeout / 2);
    await abortAfter(needsUtf8(email) ? timeout / 2 : timeout, async (signal) => {
      // Aborting closes the connection that sends the mail.
      const error = await failureOf(this.transport.sendMail({ ...mail, signal }));
      if (error === undefined) return;
      const reason = mailFailure(error, email);
      // Without the original error as the cause, because it may contain the address.
      if (isRefusedRecipient(error)) throw new RefusedForGood(reason);
      throw new Error(signal.aborted ? `no answer within ${timeout} ms` : reason);
    });
  }

  /** nodemailer would send the recipient raw to a server without SMTPUTF8. */
  private async requireUtf8(timeout: number): Promise<void> {
    const isOffered = await this.takesUtf8(timeout).catch((error: unknown) => new Error(mailFailure(error)));
    if (isOffered instanceof Error) throw isOffered;
    if (!isOffered)
      throw new RefusedForGood('the mail server has no SMTPUTF8, which the characters of the address need');
  }

  /** Ends the connections. A mail that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
