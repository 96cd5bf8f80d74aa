import {
  deliverBatch,
  type DeliveryParts,
  type DeliveryPolicy,
  type AttemptOutcome,
} from '../deliveries/deliver-batch.js';
import type { Backlog } from '../deliveries/delivery-queue.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type AccountMailId, hasLink } from './account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail } from './account-mail-queue.js';
import type { AccountMailSender } from './account-mail-sender.js';

const TOKEN_LENGTH = 43; // 43 · log2(62) = 256 bits

/** One attempt to deliver a mail. */
export type AccountMailDelivery = Pick<ClaimedAccountMail, 'id' | 'kind'> & {
  readonly attempt: number;
} & AttemptOutcome;

/**
 * Delivers the account mails that are due, one batch per call. Each attempt generates a token, if the mail has a link, and
 * stores only its hash before the mail is sent. A mail whose link has expired or was revoked is dropped.
 */
export class DeliverAccountMails {
  private readonly parts: DeliveryParts<AccountMailId, ClaimedAccountMail>;

  constructor(
    private readonly mails: AccountMailQueue,
    private readonly sender: AccountMailSender,
    private readonly clock: Clock,
    private readonly cryptography: Cryptography,
    policy: DeliveryPolicy,
  ) {
    const send = (mail: ClaimedAccountMail, timeout: number) => this.send(mail, timeout);
    this.parts = { queue: mails, clock, cryptography, policy, send };
  }

  /**
   * Claims a batch and sends it.
   *
   * @param onDelivery called after each attempt.
   * @param isStopping called before each mail; if true, the rest of the batch is released.
   * @param onMore called before the first mail is sent, if more may be due.
   * @returns whether more mails may be due.
   */
  async execute(
    onDelivery: (delivery: AccountMailDelivery) => void = () => undefined,
    isStopping: () => boolean = () => false,
    onMore: () => void = () => undefined,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    return deliverBatch(
      this.parts,
      ({ id, kind }, attempt, outcome) => {
        onDelivery({ id, kind, attempt, ...outcome });
      },
      isStopping,
      onMore,
    );
  }

  /** The number of queued mails, and when the oldest was created. */
  async backlog(): Promise<Backlog> {
    return this.mails.backlog();
  }

  /** Calls `onQueued` when there may be something to deliver. Returns a function that stops watching. */
  watch(onQueued: () => void): () => Promise<void> {
    return this.mails.watch(onQueued);
  }

  private async send(mail: ClaimedAccountMail, timeout: number): Promise<boolean> {
    const { kind, email, page, expiresAt } = mail;
    const token = hasLink(kind) ? randomBase62(TOKEN_LENGTH, this.cryptography) : undefined;
    const now = this.clock.now();
    const isUseful =
      token === undefined ? now < expiresAt : await this.mails.addToken(mail, this.cryptography.sha256(token), now);
    if (!isUseful) {
      await this.mails.markDropped(mail);
      return false;
    }
    await this.sender.send({ kind, email, page, expiresAt, token }, timeout);
    return true;
  }
}
