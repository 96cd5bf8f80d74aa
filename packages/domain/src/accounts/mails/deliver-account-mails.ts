import { type Attempt, type BatchCalls, deliverBatch, type DeliveryOptions } from '../../deliveries/deliver-batch.js';
import type { Backlog } from '../../deliveries/delivery-queue.js';
import { randomBase62 } from '../../kernel/base62.js';
import { canonicalAddress } from '../address.js';
import { decideToken, hasLink, isUsable } from './account-mail.js';
import type { ClaimedAccountMail } from './account-mail-queue.js';
import type { AccountMailPorts } from './ports.js';

const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

type ReportedMail = Pick<ClaimedAccountMail, 'id' | 'kind'>;

/** One attempt to deliver a mail. */
export type AccountMailDelivery = Attempt<ReportedMail>;

/**
 * Each attempt generates a token, if the mail has a link, and stores only its hash before the mail is sent. A mail whose
 * link has expired or was revoked is dropped.
 */
export class DeliverAccountMails {
  constructor(
    private readonly ports: Pick<
      AccountMailPorts,
      'accountMails' | 'accountMailSender' | 'clock' | 'cryptography' | 'domainToAscii'
    >,
    private readonly options: DeliveryOptions,
  ) {}

  /** As `deliverBatch`. */
  async execute(calls: BatchCalls<ReportedMail> = {}): Promise<{ readonly mayHaveMore: boolean }> {
    return deliverBatch(
      {
        queue: this.ports.accountMails,
        send: (mail: ClaimedAccountMail, timeout) => this.send(mail, timeout),
        reportedOf: ({ id, kind }) => ({ id, kind }),
        expiryOf: ({ expiresAt }) => expiresAt,
        policy: this.options.delivery,
        ports: this.ports,
      },
      calls,
    );
  }

  /** The number of queued mails, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.ports.accountMails.backlog();
  }

  private async send(mail: ClaimedAccountMail, timeout: number): Promise<boolean> {
    const { kind, page, about, createdAt, expiresAt } = mail;
    const email = canonicalAddress(mail.email, this.ports.domainToAscii);
    const token = randomBase62(TOKEN_LENGTH, this.ports.cryptography);
    const tokenHash = this.ports.cryptography.sha256(token);
    const now = this.ports.clock.now();
    const isUseful = hasLink(kind)
      ? await this.ports.accountMails.addToken({ ...mail, kind }, tokenHash, (state) => decideToken(state, now))
      : isUsable(mail, now);
    if (!isUseful) {
      await this.ports.accountMails.markDropped(mail);
      return false;
    }
    await this.ports.accountMailSender.send(
      { kind, email, page, about, createdAt, expiresAt, token: hasLink(kind) ? token : undefined },
      timeout,
    );
    return true;
  }
}
