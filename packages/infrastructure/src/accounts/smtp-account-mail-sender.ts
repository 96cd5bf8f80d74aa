import { type AccountMail, type AccountMailSender, PermanentFailure } from '@adoption-store/domain';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { isRejectedRecipient, mailFailure } from '../deliveries/mail-failure.js';
import { needsUtf8, offersUtf8, openSmtpTransport, type SmtpDelivery } from '../deliveries/smtp-transport.js';

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** The text of a mail. The link comes between `before` and `after`. Notices have none, so that nobody learns to open one. */
interface Words {
  /** The path of the portal's page that its link opens. Without it the mail has no link. */
  readonly page?: string;
  readonly subject: string;
  readonly before: (until: string, about: string, at: string) => readonly string[];
  readonly after: (contact: string) => string;
}

const IF_NOT_YOU = (contact: string) =>
  'If it was you, you need to do nothing. If it was not you, set a new password at once, by “Forgotten your password?” on ' +
  'the sign-in page. Then revoke the API keys and delete the webhooks that you do not know. If you need help, contact ' +
  `${contact}.`;

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
    before: (_until, _about, at) => [
      `The e-mail address of your account at the Animal Adoption Store was changed on ${at}. From now on you sign in with ` +
        'the new address, and mails go there. Your password and your API keys stay the same.',
    ],
    after: (contact) => `If it was not you, somebody else knows your password. Contact ${contact} at once.`,
  },
  password: {
    subject: 'The password of your Animal Adoption Store account has changed',
    before: (_until, _about, at) => [
      `The password of your account at the Animal Adoption Store was changed on ${at}. Everybody who was signed in with ` +
        'the former one is signed out. Your API keys still work.',
    ],
    after: IF_NOT_YOU,
  },
  recovered: {
    subject: 'The password of your Animal Adoption Store account was reset',
    before: (_until, _about, at) => [
      `The password of your account at the Animal Adoption Store was reset on ${at}, by a link that was mailed to you.`,
    ],
    after: (contact) =>
      `If it was not you, somebody else can read your mails: change the password of your mailbox first. ${IF_NOT_YOU(contact)}`,
  },
  key: {
    subject: 'A new API key of your Animal Adoption Store account',
    before: (_until, about, at) => [
      `An API key of your account at the Animal Adoption Store was made on ${at}: ${about}.`,
    ],
    after: IF_NOT_YOU,
  },
  rotated: {
    subject: 'A rotated API key of your Animal Adoption Store account',
    before: (_until, about, at) => [
      `An API key of your account at the Animal Adoption Store was rotated on ${at}. The new one is ${about}.`,
    ],
    after: IF_NOT_YOU,
  },
  more: {
    subject: 'More changes of your Animal Adoption Store account',
    before: (_until, about, at) => [
      `In the hour until ${at} the password or the API keys of your account at the Animal Adoption Store were changed ` +
        `${about} more ${about === '1' ? 'time' : 'times'} than earlier mails have told you.`,
    ],
    after: IF_NOT_YOU,
  },
  closed: {
    subject: 'Your Animal Adoption Store account is closed',
    before: (_until, _about, at) => [
      `Your account at the Animal Adoption Store was closed on ${at}. Its API keys no longer work, its webhooks are ` +
        'deleted, and so is this e-mail address.',
    ],
    after: (contact) => `If it was not you, somebody else knows your password. Contact ${contact}.`,
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
  private readonly takesUtf8: (timeout: number) => Promise<boolean>;

  constructor(delivery: Omit<SmtpDelivery, 'to' | 'connections'>) {
    const { smtpUrl, from, portalUrl, contact = 'the operator of the service' } = delivery;
    this.portalUrl = portalUrl;
    this.contact = contact;
    this.takesUtf8 = async (timeout) => offersUtf8(smtpUrl, from, timeout);
    this.transport = openSmtpTransport({ url: smtpUrl, connections: 2 }, { from });
  }

  async send({ kind, email, about = '', token, ...times }: AccountMail, timeout: number): Promise<void> {
    const { page, subject, before, after } = WORDS[kind];
    // Browsers don't send what is after the #, so no server logs the token.
    const fragment = token === undefined ? '' : `#${token}`;
    const link = page === undefined ? [] : [`${this.portalUrl}${page}${fragment}`];
    const [until, at] = [`${TIME.format(times.expiresAt)} UTC`, `${TIME.format(times.createdAt)} UTC`];
    const paragraphs = [...before(until, about, at), ...link, after(this.contact), ''];
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
      if (isRejectedRecipient(error)) throw new PermanentFailure(reason);
      throw new Error(signal.aborted ? `no answer within ${timeout} ms` : reason);
    });
  }

  /** nodemailer would send the recipient raw to a server without SMTPUTF8. */
  private async requireUtf8(timeout: number): Promise<void> {
    const isOffered = await this.takesUtf8(timeout).catch((error: unknown) => new Error(mailFailure(error)));
    if (isOffered instanceof Error) throw isOffered;
    if (!isOffered)
      throw new PermanentFailure('the mail server has no SMTPUTF8, which the characters of the address need');
  }

  /** Ends the connections. A mail that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
