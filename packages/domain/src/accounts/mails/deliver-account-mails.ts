import {
  type BatchCalls,
  deliverBatch,
  type DeliveryOptions,
  type DeliveryReport,
} from '../../deliveries/deliver-batch.js';
import type { Backlog } from '../../deliveries/delivery-queue.js';
import { randomBase62 } from '../../kernel/base62.js';
import { canonicalAddress } from '../address.js';
import { decideSignUpMail, decideToken, isUsable } from './account-mail.js';
import { type ClaimedAccountMail, isLinkMail } from './account-mail-queue.js';
import type { AccountMail } from './account-mail-sender.js';
import type { AccountMailPorts } from './ports.js';

const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

type ReportedMail = Pick<ClaimedAccountMail, 'id' | 'kind'>;

/** What is reported of an attempt to deliver a mail. */
export type AccountMailReport = DeliveryReport<ReportedMail>;

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
    const content = await this.contentOf(mail);
    if (content === undefined) {
      await this.ports.accountMails.markDropped(mail);
      return false;
    }
    const { about, createdAt, expiresAt } = mail;
    const email = canonicalAddress(mail.email, this.ports.domainToAscii);
    await this.ports.accountMailSender.send({ ...content, email, about, createdAt, expiresAt }, timeout);
    return true;
  }

  /** Undefined if the mail is no longer useful. */
  private async contentOf(mail: ClaimedAccountMail): Promise<Pick<AccountMail, 'kind' | 'token'> | undefined> {
    const { accountMails, clock, cryptography } = this.ports;
    const now = clock.now();
    const { kind } = mail;
    const token = randomBase62(TOKEN_LENGTH, cryptography);
    const tokenHash = cryptography.sha256(token);
    if (kind === 'sign-up') {
      const decision = await accountMails.addSignUpToken(mail, tokenHash, (state) => decideSignUpMail(state, now));
      if (decision === 'has-account') return { kind: decision, token: undefined };
      return decision && { kind, token };
    }
    if (!isLinkMail(mail)) return isUsable(mail, now) ? { kind, token: undefined } : undefined;
    const isAdded = await accountMails.addToken(mail, tokenHash, (state) => decideToken(state, now));
    return isAdded ? { kind, token } : undefined;
  }
}
