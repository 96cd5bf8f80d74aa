import { type AccountMail, type AccountMailSender, RefusedForGood } from '@adoption-store/domain';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { isRefusedRecipient, mailFailure, openSmtpTransport, type SmtpDelivery } from '../deliveries/smtp-transport.js';

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** The text of a mail. The link comes between `before` and `after`. */
interface Words {
  /** The path of the portal's page that its link opens. Without it the mail has no link. */
  readonly page?: string;
  readonly subject: string;
  readonly before: (until: string, about: string) => readonly string[];
  readonly after: (contact: string) => string;
}

const WORDS: Readonly<Record<AccountMail['kind'], Words>> = {
  reset: {
    page: '/reset-password',
    subject: 'Set a new password for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, has asked to set a new password for your account at the Animal Adoption Store.',
      `Open this link to set it. The link works once, until ${until}:`,
    ],
    after: () => 'If it was not you, do nothing: your password stays as it is.',
  },
  'sign-up': {
    page: '/finish-sign-up',
    subject: 'Open your account at the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, wants to open an account at the Animal Adoption Store with this e-mail address.',
      `If it was you, open this link and choose a password. The link works once, until ${until}:`,
    ],
    after: () => 'If it was not you, do nothing: no account is opened, and after a day you hear no more.',
  },
  'has-account': {
    page: '/sign-in',
    subject: 'You have an account at the Animal Adoption Store',
    before: () => [
      'Somebody, hopefully you, wants to open an account at the Animal Adoption Store with this e-mail address. It has ' +
        'one already. Sign in here, or set a new password if you have forgotten yours:',
    ],
    after: () => 'If it was not you, do nothing: nothing was changed, and after a day you hear no more.',
  },
  change: {
    page: '/confirm-new-address',
    subject: 'Confirm your new e-mail address for the Animal Adoption Store',
    before: (until) => [
      'Somebody, hopefully you, wants to use this e-mail address for an account at the Animal Adoption Store.',
      `If it was you, open this link to confirm the address. The link works once, until ${until}:`,
    ],
    after: () =>
      'You need the password of the account, too. If it was not you, do nothing: the account keeps its present address.',
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
  private readonly portalUrl;
  private readonly contact;

  constructor(delivery: Omit<SmtpDelivery, 'to' | 'connections'>) {
    const { smtpUrl, from, portalUrl, contact = 'the operator of the service' } = delivery;
    this.portalUrl = portalUrl;
    this.contact = contact;
    this.transport = openSmtpTransport({ url: smtpUrl, connections: 2 }, { from });
  }

  async send({ kind, email, about = '', token, expiresAt }: AccountMail, timeout: number): Promise<void> {
    const { page, subject, before, after } = WORDS[kind];
    // Browsers don't send what is after the #, so no server logs the token.
    const fragment = token === undefined ? '' : `#${token}`;
    const link = page === undefined ? [] : [`${this.portalUrl}${page}${fragment}`];
    const paragraphs = [...before(`${TIME.format(expiresAt)} UTC`, about), ...link, after(this.contact), ''];
    const mail = {
      to: { name: '', address: email },
      subject,
      text: paragraphs.join('\n\n'),
      // Base64 keeps a long link in one piece.
      encoding: 'base64',
    };
    await abortAfter(timeout, async (signal) => {
      // Aborting closes the connection that sends the mail.
      const error = await failureOf(this.transport.sendMail({ ...mail, signal }));
      if (error === undefined) return;
      // Without the original error as the cause, because it may contain the address.
      if (isRefusedRecipient(error)) throw new RefusedForGood(mailFailure(error));
      throw new Error(signal.aborted ? `no answer within ${timeout} ms` : mailFailure(error));
    });
  }

  /** Ends the connections. A mail that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
