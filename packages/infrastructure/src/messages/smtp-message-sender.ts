import { type ClaimedMessage, escapeInvisible, type MessageSender } from '@adoption-store/domain';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { mailFailure } from '../deliveries/mail-failure.js';
import { domainOf, needsUtf8, openSmtpTransport, type SmtpDelivery } from '../deliveries/smtp-transport.js';

const UNPROVEN = 'The address of this account is unproven: its owner may not have written this message.';

const replyBy = (address: string) =>
  `To reply, write to ${escapeInvisible(address)}. Mail programs are not told this address, because not every mail ` +
  'server accepts its characters.';

export class SmtpMessageSender implements MessageSender {
  private readonly transport;
  private readonly domain: string;

  constructor({ smtpUrl, from, to, connections = 8 }: Omit<SmtpDelivery, 'portalUrl' | 'contact'>) {
    this.domain = domainOf(from);
    this.transport = openSmtpTransport({ url: smtpUrl, connections }, { from, to });
  }

  async send({ id, text, from, isProven, createdAt }: ClaimedMessage, timeout: number): Promise<void> {
    // nodemailer would send the header raw, also to a server without SMTPUTF8, which may then refuse the mail.
    const isUnfit = isProven && needsUtf8(from);
    const notes = [...(isProven ? [] : [UNPROVEN]), ...(isUnfit ? [replyBy(from)] : [])];
    const mail = {
      // The store must not reply to an unproven address, which may belong to somebody else.
      replyTo: isProven && !isUnfit ? { name: '', address: from } : undefined,
      subject: `Message from ${isProven ? '' : 'the unproven address '}${escapeInvisible(from)}`,
      date: new Date(createdAt),
      messageId: `<${id}@${this.domain}>`,
      headers: { 'X-Message-Id': id },
      text: [...notes, text].join('\n\n'),
      // Base64 preserves all line endings and trailing spaces.
      encoding: 'base64',
    };
    await abortAfter(timeout, async (signal) => {
      // Aborting closes the connection that sends the message.
      const error = await failureOf(this.transport.sendMail({ ...mail, signal }));
      if (error === undefined) return;
      // Without the original error as the cause, because it may contain a login or an address.
      throw new Error(signal.aborted ? `no answer within ${timeout} ms` : mailFailure(error));
    });
  }

  /** Connects and logs in without sending a mail. Rejects if that fails. */
  async check(): Promise<void> {
    const error = await failureOf(this.transport.verify());
    if (error !== undefined) throw new Error(mailFailure(error));
  }

  /** Closes the connections. A message that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
