import type { NewAccountMail } from '../accounts/account-mail.js';
import type { Claim, DeliveryQueue } from '../deliveries/delivery-queue.js';
import type { Instant } from '../kernel/clock.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { ClaimedDelivery, DeliveryId, TurnEnd, WebhookDelivery } from './delivery.js';
import type { WebhookId } from './webhook.js';

export interface DeliveryQuery extends PagePart<DeliveryId> {
  readonly webhookId: WebhookId;
}

/**
 * Port: the deliveries of events to webhooks. The event feed queues them, in the transaction that publishes the events: one
 * for each enabled webhook that an event is for.
 *
 * A claim takes a turn of one receiver: the enabled webhook that has been waiting longest for one, with the longest due of
 * its deliveries. Until the turn ends, or its lease, nobody else gets a delivery of that webhook. So a receiver that is slow
 * or dead holds one turn, however many of its deliveries wait.
 */
export interface WebhookQueue extends DeliveryQueue<DeliveryId, ClaimedDelivery> {
  /** @param responseStatus the status of the response. */
  markSent(id: DeliveryId, responseStatus?: number): Promise<void>;
  postpone(claim: Claim<DeliveryId>, pause: number, responseStatus?: number): Promise<void>;
  markFailed(claim: Claim<DeliveryId>, responseStatus?: number): Promise<void>;
  /**
   * Ends the turn of that claim. The webhook is disabled if the end says so, and the mail is queued. Does nothing if a later
   * turn exists, or the webhook was changed (`WebhookRepository.change`) meanwhile.
   */
  endTurn(claimed: ClaimedDelivery, end: TurnEnd, notice?: NewAccountMail): Promise<void>;
  /** Queues a ping. */
  ping(webhookId: WebhookId, createdAt: Instant, transaction?: Transaction): Promise<WebhookDelivery>;
  /** At most `limit` deliveries of the webhook, newest first: those next to the given place. */
  list(query: DeliveryQuery): Promise<readonly WebhookDelivery[]>;
  /** Queues the delivery again, with all its attempts; it is due at once. Undefined if there is no such delivery. */
  retry(webhookId: WebhookId, id: DeliveryId, transaction?: Transaction): Promise<WebhookDelivery | undefined>;
  /** Stores the wish to send again, from the next turn on, what has failed or was never sent since that instant. */
  recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void>;
  /** Deletes the pings that were created at or before that instant. Other deliveries are deleted with their events. */
  purge(createdUntil: Instant): Promise<number>;
}
