import { newAccountMailId, type NewAccountMail } from '../accounts/account-mail.js';
import { NOTICE_TTL } from '../accounts/credentials.js';
import { decideFailure, RefusedForGood } from '../deliveries/deliver-batch.js';
import { type Instant, later, SECOND } from '../kernel/clock.js';
import {
  decideTurnEnd,
  deliveryBody,
  type DeliveryId,
  type DueDelivery,
  GONE,
  isSuccess,
  PAUSES,
  type Receiver,
  type Turn,
} from './delivery.js';
import type { WebhookOptions, WebhookPorts } from './ports.js';
import { signingSecrets, type WebhookId } from './webhook.js';
import type { WebhookBacklog } from './webhook-queue.js';
import type { WebhookResponse } from './webhook-sender.js';

/** Deliveries of a turn, which are sent at the same time. */
const MOST_OF_A_TURN = 20;
/** If a worker is killed, its receivers wait at most this long. */
const LEASE = 20 * SECOND;
const TIMEOUT = 15 * SECOND;
/** Some of a worker's turns are kept for receivers that were quicker than this. */
export const QUICK_TURN = SECOND;

const RETRIES = { attempts: PAUSES.length + 1, pauses: { longest: PAUSES, drawn: 0.1 } };

/** One attempt to deliver an event to a webhook. */
export interface WebhookAttempt extends Pick<DueDelivery, 'type'> {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly attempt: number;
  /** `postponed`: it will be attempted again. */
  readonly outcome: 'sent' | 'postponed' | 'failed';
  readonly reason?: unknown;
}

/** Takes a turn of a receiver, and sends it what is due. */
export class DeliverWebhooks {
  constructor(
    private readonly ports: Omit<WebhookPorts, 'webhooks'>,
    private readonly options: WebhookOptions,
  ) {}

  /**
   * @param onAttempt called after each attempt.
   * @param onMore called before the first attempt, which may take long: other receivers may be waiting.
   * @param longestTurn takes no turn of a receiver whose last one took more milliseconds. Default: any.
   * @returns whether other receivers may be waiting.
   */
  async execute(
    onAttempt: (attempt: WebhookAttempt) => void = () => undefined,
    onMore: () => void = () => undefined,
    longestTurn?: number,
  ): Promise<{ readonly mayHaveMore: boolean }> {
    const { clock, webhookDeliveries } = this.ports;
    const begun = clock.now();
    const turn = await webhookDeliveries.takeTurn({ limit: MOST_OF_A_TURN, lease: LEASE, longestTurn });
    if (turn === undefined) return { mayHaveMore: false };
    onMore();
    // Each attempt ends within the lease, so that no other worker calls the receiver meanwhile. Otherwise the turn runs out.
    if (clock.now() + TIMEOUT >= later(begun, LEASE)) return { mayHaveMore: true };
    // A receiver refuses what was signed with a clock that is minutes off, so the queue's clock counts, not this process's.
    const now = () => later(turn.takenAt, clock.now() - begun);
    const attempts = turn.deliveries.map(async (delivery) => this.attempt(turn, delivery, { now, onAttempt }));
    const responses = await Promise.all(attempts);
    const made = { url: turn.receiver.url, responses };
    await webhookDeliveries.endTurn(turn, clock.now() - begun, (receiver) => {
      const end = decideTurnEnd(receiver, made, now());
      return end.isFailing && this.options.mailsAccounts ? { end, notice: this.noticeTo(receiver, now()) } : { end };
    });
    return { mayHaveMore: true };
  }

  async backlog(): Promise<WebhookBacklog> {
    return this.ports.webhookDeliveries.backlog();
  }

  /** The response. Undefined if there was none. */
  private async attempt(
    turn: Turn,
    delivery: DueDelivery,
    { now, onAttempt }: { readonly now: () => Instant; readonly onAttempt: (attempt: WebhookAttempt) => void },
  ): Promise<WebhookResponse | undefined> {
    const { webhookDeliveries, cryptography } = this.ports;
    const { id, type, failures } = delivery;
    const about = { id, type, webhookId: turn.receiver.id, attempt: failures + 1 };
    const attemptedAt = now();
    const { response, reason } = await this.send(turn, delivery, attemptedAt);
    const made = { attemptedAt, responseStatus: response?.status, duration: now() - attemptedAt };
    if (reason === undefined) {
      await webhookDeliveries.settle(delivery, { status: 'sent' }, made);
      onAttempt({ ...about, outcome: 'sent' });
      return response;
    }
    const random = (cryptography.randomBytes(1)[0] ?? 0) / 255;
    const outcome = decideFailure(delivery, { ...RETRIES, reason, random });
    await webhookDeliveries.settle(delivery, outcome, made);
    onAttempt({ ...about, outcome: outcome.status === 'queued' ? 'postponed' : 'failed', reason });
    return response;
  }

  /** The response, and why the attempt failed if it did. */
  private async send(
    { receiver, secrets }: Turn,
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
      const response = await this.ports.webhookSender.send(request, TIMEOUT);
      if (isSuccess(response)) return { response };
      const reason = `the receiver answered ${response.status}`;
      return { response, reason: response.status === GONE ? new RefusedForGood(reason) : new Error(reason) };
    } catch (reason) {
      return { reason: reason instanceof Error ? reason : new Error('no response', { cause: reason }) };
    }
  }

  private noticeTo({ accountId, url, description }: Receiver, now: Instant): NewAccountMail {
    return {
      id: newAccountMailId(this.ports.cryptography),
      accountId,
      kind: 'webhook',
      page: '',
      about: description === undefined ? url : `${url} (${description})`,
      createdAt: now,
      expiresAt: later(now, NOTICE_TTL),
    };
  }
}
