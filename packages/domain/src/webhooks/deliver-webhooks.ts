import { newAccountMailId, type NewAccountMail } from '../accounts/mails/account-mail.js';
import { NOTICE_TTL } from '../accounts/mails/notice.js';
import { decideFailure, type DeliveryReport, outcomeOf, PermanentFailure } from '../deliveries/deliver-batch.js';
import { type Instant, later, SECOND } from '../kernel/clock.js';
import {
  decideRoundEnd,
  deliveryBody,
  type DueDelivery,
  GONE,
  isSuccess,
  PAUSES,
  type Receiver,
  type Round,
} from './delivery.js';
import type { WebhookOptions, WebhookPorts } from './ports.js';
import type { WebhookId } from './webhook.js';
import { signingSecrets } from './webhook-secrets.js';
import type { WebhookBacklog } from './webhook-queue.js';
import type { WebhookResponse } from './webhook-sender.js';

/** Deliveries of one round. They are sent at the same time. */
const MOST_OF_A_ROUND = 20;
/** If a worker is killed, its receivers wait at most this long. */
const LEASE = 20 * SECOND;
/** How long a receiver may take to answer. */
export const ANSWER_WITHIN = 15 * SECOND;
/** Some of a worker's jobs take rounds only of receivers whose last round took at most this long. */
export const QUICK_ROUND = SECOND;

const RETRIES = { attempts: PAUSES.length + 1, pauses: { longest: PAUSES, drawn: 0.1 } };

/** What is reported of an attempt to deliver an event to a webhook. */
export type WebhookReport = DeliveryReport<Pick<DueDelivery, 'id' | 'type'> & { readonly webhookId: WebhookId }>;

/** Takes one round of a receiver, and sends it the deliveries that are due. */
export class DeliverWebhooks {
  constructor(
    private readonly ports: Omit<WebhookPorts, 'webhooks'>,
    private readonly options: WebhookOptions,
  ) {}

  /**
   * @param onAttempt called after each delivery attempt.
   * @param onMore called before the first attempt, which may take long: other receivers may be waiting for a round.
   * @param longestRound only receivers whose last round took at most so many milliseconds. Default: all.
   * @returns whether other receivers may be waiting.
   */
  async execute(
    onAttempt: (report: WebhookReport) => void = () => undefined,
    onMore: () => void = () => undefined,
    longestRound?: number,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    const { clock, webhookQueue } = this.ports;
    const begun = clock.now();
    const round = await webhookQueue.takeRound({ limit: MOST_OF_A_ROUND, lease: LEASE, longestRound });
    if (round === undefined) return { mayHaveMore: false };
    onMore();
    // An attempt must end within the lease, so that no other worker calls the receiver meanwhile. If too little is left
    // of it, nothing is sent: the round expires, and another one follows.
    if (clock.now() + ANSWER_WITHIN >= later(begun, LEASE)) return { mayHaveMore: true };
    // The queue's clock, because this process's may be wrong: receivers refuse a signature whose time is minutes off.
    const now = () => later(round.takenAt, clock.now() - begun);
    const sending = round.deliveries.map(async (delivery) => this.attempt(round, delivery, { now, onAttempt }));
    const attempts = { url: round.receiver.url, responses: await Promise.all(sending) };
    await webhookQueue.endRound(round, clock.now() - begun, (receiver) => {
      const end = decideRoundEnd(receiver, attempts, now());
      return end.isFailing && this.options.mailsAccounts ? { end, notice: this.noticeTo(receiver, now()) } : { end };
    });
    return { mayHaveMore: true };
  }

  async backlog(): Promise<WebhookBacklog> {
    return this.ports.webhookQueue.backlog();
  }

  /** The response. Undefined if there was none. */
  private async attempt(
    round: Round,
    delivery: DueDelivery,
    { now, onAttempt }: { readonly now: () => Instant; readonly onAttempt: (report: WebhookReport) => void },
  ): Promise<WebhookResponse | undefined> {
    const { webhookQueue, cryptography } = this.ports;
    const { id, type, failures } = delivery;
    const reported = { id, type, webhookId: round.receiver.id, attempt: failures + 1 };
    const attemptedAt = now();
    const { response, reason } = await this.send(round, delivery, attemptedAt);
    const attempt = { attemptedAt, responseStatus: response?.status, duration: now() - attemptedAt };
    if (reason === undefined) {
      await webhookQueue.settle(delivery, { status: 'sent' }, attempt);
      onAttempt({ ...reported, outcome: 'sent' });
      return response;
    }
    const random = (cryptography.randomBytes(1)[0] ?? 0) / 255;
    const outcome = decideFailure(delivery, { ...RETRIES, reason, random });
    await webhookQueue.settle(delivery, outcome, attempt);
    onAttempt({ ...reported, outcome: outcomeOf(outcome.status), reason });
    return response;
  }

  /** The response if there was one, and the reason if the attempt failed. */
  private async send(
    { receiver, secrets }: Round,
    delivery: DueDelivery,
    at: Instant,
  ): Promise<{ readonly response?: WebhookResponse; readonly reason?: Error }> {
    const request = {
      url: receiver.url,
      id: delivery.eventId ?? delivery.id,
      at,
      body: deliveryBody(delivery),
      secrets: signingSecrets(secrets, at),
    };
    try {
      const response = await this.ports.webhookSender.send(request, ANSWER_WITHIN);
      if (isSuccess(response)) return { response };
      const reason = `the receiver answered ${response.status}`;
      return { response, reason: response.status === GONE ? new PermanentFailure(reason) : new Error(reason) };
    } catch (reason) {
      return { reason: reason instanceof Error ? reason : new Error('no response', { cause: reason }) };
    }
  }

  private noticeTo({ accountId, url, description }: Receiver, now: Instant): NewAccountMail {
    return {
      id: newAccountMailId(this.ports.cryptography),
      accountId,
      kind: 'webhook',
      about: description === undefined ? url : `${url} (${description})`,
      createdAt: now,
      expiresAt: later(now, NOTICE_TTL),
    };
  }
}
