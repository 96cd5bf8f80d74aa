import { newAccountMailId, type NewAccountMail } from '../accounts/account-mail.js';
import { NOTICE_TTL } from '../accounts/credentials.js';
import {
  type Attempt,
  DeliverBatch,
  type DeliveryPolicy,
  RefusedForGood,
  type Settled,
} from '../deliveries/deliver-batch.js';
import { later, SECOND } from '../kernel/clock.js';
import {
  type ClaimedDelivery,
  decideTurnEnd,
  deliveryBody,
  type DeliveryId,
  GONE,
  isSuccess,
  PAUSES,
  type Receiver,
} from './delivery.js';
import type { WebhookOptions, WebhookPorts } from './ports.js';
import { signingSecrets, type WebhookId } from './webhook.js';

/** The deliveries of a turn are sent at the same time. */
const MOST_OF_A_TURN = 20;

const POLICY: DeliveryPolicy = {
  lease: 20 * SECOND,
  timeout: 15 * SECOND,
  attempts: PAUSES.length + 1,
  batch: MOST_OF_A_TURN,
  atOnce: MOST_OF_A_TURN,
  pauses: { longest: PAUSES, drawn: 0.1 },
};

interface AboutDelivery extends Pick<ClaimedDelivery, 'id' | 'type'> {
  readonly webhookId: WebhookId;
}

/** One attempt to deliver an event to a webhook. */
export type WebhookAttempt = Attempt<AboutDelivery>;

/** Takes a turn of the receiver that has been waiting longest. */
export class DeliverWebhooks extends DeliverBatch<DeliveryId, ClaimedDelivery, AboutDelivery, number> {
  constructor(
    protected override readonly ports: Omit<WebhookPorts, 'webhooks'>,
    private readonly options: WebhookOptions,
  ) {
    super(ports.webhookDeliveries, ports, POLICY);
  }

  /** Other receivers may be waiting, however few deliveries this one has. */
  protected override mayHaveMore(claimed: number): boolean {
    return claimed > 0;
  }

  protected override about({ id, type, receiver }: ClaimedDelivery): AboutDelivery {
    return { id, type, webhookId: receiver.id };
  }

  protected override async send(delivery: ClaimedDelivery, timeout: number): Promise<number> {
    const { id, eventId, receiver } = delivery;
    const at = this.ports.clock.now();
    const { url } = receiver;
    const secrets = signingSecrets(receiver.secrets, at);
    const request = { url, id: eventId ?? id, at, body: deliveryBody(delivery), secrets };
    const { status } = await this.ports.webhookSender.send(request, timeout);
    if (isSuccess(status)) return status;
    const reason = `the receiver answered ${status}`;
    throw status === GONE ? new ReceiverGone(reason) : new Unsuccessful(reason, status);
  }

  protected override async settle(delivery: ClaimedDelivery, settled: Settled<number>): Promise<void> {
    const { webhookDeliveries } = this.ports;
    const response = responseOf(settled);
    if (settled.status === 'sent') await webhookDeliveries.markSent(delivery.id, response);
    if (settled.status === 'queued') await webhookDeliveries.postpone(delivery, settled.pause, response);
    if (settled.status === 'failed') await webhookDeliveries.markFailed(delivery, response);
  }

  protected override async end(
    [first]: readonly ClaimedDelivery[],
    settled: readonly Settled<number>[],
  ): Promise<void> {
    if (first === undefined || settled.length === 0) return;
    const end = decideTurnEnd(first.receiver, { responses: settled.map(responseOf) }, this.ports.clock.now());
    const isTold = end.disabled === 'failing' && this.options.mailsAccounts;
    await this.ports.webhookDeliveries.endTurn(first, end, isTold ? this.noticeTo(first.receiver) : undefined);
  }

  private noticeTo({ accountId }: Receiver): NewAccountMail {
    const { clock, cryptography } = this.ports;
    const now = clock.now();
    const id = newAccountMailId(cryptography);
    return { id, accountId, kind: 'webhook', page: '', createdAt: now, expiresAt: later(now, NOTICE_TTL) };
  }
}

/** The receiver's answer was not 2xx. */
class Unsuccessful extends Error {
  constructor(
    message: string,
    readonly responseStatus: number,
  ) {
    super(message);
  }
}

class ReceiverGone extends RefusedForGood {
  readonly responseStatus = GONE;
}

function responseOf(settled: Settled<number>): number | undefined {
  if (settled.status === 'sent') return settled.answer;
  const { reason } = settled;
  return reason instanceof Unsuccessful || reason instanceof ReceiverGone ? reason.responseStatus : undefined;
}
