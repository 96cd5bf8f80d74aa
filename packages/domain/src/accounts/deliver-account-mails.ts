import { type Attempt, DeliverBatch, type DeliveryPolicy } from '../deliveries/deliver-batch.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type AccountMailId, decideToken, hasLink, isUsable } from './account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail } from './account-mail-queue.js';
import type { AccountMailSender } from './account-mail-sender.js';

const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

type AboutMail = Pick<ClaimedAccountMail, 'id' | 'kind'>;

/** One attempt to deliver a mail. */
export type AccountMailDelivery = Attempt<AboutMail>;

/**
 * Each attempt generates a token, if the mail has a link, and stores only its hash before the mail is sent. A mail whose
 * link has expired or was revoked is dropped.
 */
export class DeliverAccountMails extends DeliverBatch<AccountMailId, ClaimedAccountMail, AboutMail> {
  constructor(
    private readonly mails: AccountMailQueue,
    private readonly sender: AccountMailSender,
    clock: Clock,
    cryptography: Cryptography,
    policy: DeliveryPolicy,
  ) {
    super(mails, clock, cryptography, policy);
  }

  protected override about({ id, kind }: ClaimedAccountMail): AboutMail {
    return { id, kind };
  }

  protected override async send(mail: ClaimedAccountMail, timeout: number): Promise<boolean> {
    const { kind, email, page, expiresAt } = mail;
    const token = randomBase62(TOKEN_LENGTH, this.cryptography);
    const tokenHash = this.cryptography.sha256(token);
    const now = this.clock.now();
    const isUseful = hasLink(kind)
      ? await this.mails.addToken({ ...mail, kind }, tokenHash, (state) => decideToken(state, now))
      : isUsable(mail, now);
    if (!isUseful) {
      await this.mails.markDropped(mail);
      return false;
    }
    await this.sender.send({ kind, email, page, expiresAt, token: hasLink(kind) ? token : undefined }, timeout);
    return true;
  }
}
