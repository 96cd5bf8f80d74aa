import { type ClaimedMessage, escapeInvisible, type MessageSender } from '@adoption-store/domain';
import { abortAfter } from '../kernel/answers.js';
import { mailFailure, openSmtpTransport, type SmtpDelivery } from '../deliveries/smtp-transport.js';

const UNPROVEN = 'The address of this account is unproven: its owner may not have written this message.';

export class SmtpMessageSender implements MessageSender {
  private readonly transport;
  private readonly domain: string;

  constructor({ smtpUrl, from, to, connections = 8 }: Omit<SmtpDelivery, 'portalUrl' | 'contact'>) {
    this.domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
    this.transport = openSmtpTransport({ url: smtpUrl, connections }, { from, to });
  }

  async send({ id, text, from, isProven, createdAt }: ClaimedMessage, timeout: number): Promise<void> {
    const mail = {
      // The store must not reply to an unproven address, which may belong to somebody else.
      replyTo: isProven ? { name: '', address: from } : undefined,
      subject: `Message from ${isProven ? '' : 'the unproven address '}${escapeInvisible(from)}`,
      date: new Date(createdAt),
      messageId: `<${id}@${this.domain}>`,
      headers: { 'X-Message-Id': id },
      text: isProven ? text : `${UNPROVEN}\n\n${text}`,
      // Base64 preserves all line endings and trailing spaces.
      encoding: 'base64',
    };
    await abortAfter(timeout, async (signal) => {
      try {
        // Aborting closes the connection that sends the message.
        await this.transport.sendMail({ ...mail, signal });
      } catch (error) {
        throw signal.aborted ? new Error(`no answer within ${timeout} ms`, { cause: error }) : error;
      }
    });
  }

  /** Connects and logs in without sending a mail. Rejects if that fails. */
  async check(): Promise<void> {
    try {
      await this.transport.verify();
    } catch (error) {
      throw new Error(mailFailure(error), { cause: error });
    }
  }

  /** Closes the connections. A message that is being sent fails. */
  close(): void {
    this.transport.close({ force: true });
  }
}
