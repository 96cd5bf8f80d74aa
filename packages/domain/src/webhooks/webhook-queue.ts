import type { NewAccountMail } from '../accounts/account-mail.js';
import type { Instant } from '../kernel/clock.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type {
  DeliveryAttempt,
  DeliveryId,
  DeliveryOutcome,
  DeliveryWithBody,
  DueDelivery,
  Receiver,
  Turn,
  TurnEnd,
  WebhookDelivery,
} from './delivery.js';
import type { WebhookId } from './webhook.js';

export interface TurnRequest {
  /** Most deliveries. There are fewer if their events are large. */
  readonly limit: number;
  /** Milliseconds that the turn lasts, unless it is ended. */
  readonly lease: number;
  /** Only webhooks whose last turn took no more milliseconds. Default: all. */
  readonly longestTurn?: number | undefined;
}

export interface DeliveryQuery extends PagePart<DeliveryId> {
  readonly webhookId: WebhookId;
}

/** The state of all webhooks, for the operator. Each number is at most `MOST_COUNTED`. */
export interface WebhookBacklog {
  /** Events that are still to be delivered to an enabled webhook, and deliveries that wait for another attempt. */
  readonly waiting: number;
  /** Enabled webhooks of which nothing could be delivered in their last turn. */
  readonly failing: number;
  /** Since when a turn is due that nobody takes, of a webhook that doesn't fail. */
  readonly dueSince: Instant | undefined;
}

/** What a turn's end stores. */
export interface EndedTurn {
  readonly end: TurnEnd;
  /** A mail to the owner. */
  readonly notice?: NewAccountMail | undefined;
}

/**
 * Port: the deliveries of events to webhooks. Each enabled webhook follows the feed from a position of its own: a turn in
 * which nothing is due takes its next events, a bounded number of them. So nothing is stored for a webhook that isn't
 * about to be sent, and a receiver that is slow or dead holds one turn, however many events it has missed.
 *
 * Only the queue's own clock decides what is due. Each method is atomic, and durable once its promise resolves.
 */
export interface WebhookQueue {
  /** Makes the next turn due of each resting webhook that the feed has something for. Returns their number. */
  wake(): Promise<number>;
  /**
   * Takes a turn of one receiver. Among those that have been due longest, one of an account with fewer open turns comes
   * first, then one whose last turn was shorter. Undefined if no turn is due. Webhooks of an account that lacks a scope
   * (`DELIVERY_SCOPES`) have none, and go on where they were once it has all.
   */
  takeTurn(request: TurnRequest): Promise<Turn | undefined>;
  /**
   * Records an attempt and what it leads to. Does nothing if the owner has queued the delivery again meanwhile; a failed attempt also does nothing
   * if another has sent it.
   */
  settle(delivery: DueDelivery, outcome: DeliveryOutcome, attempt: DeliveryAttempt): Promise<void>;
  /**
   * Ends a turn that took so many milliseconds as `decide` says. It gets the webhook as it is now, locked. Does nothing if
   * the webhook is gone, or a later turn exists.
   */
  endTurn(turn: Turn, took: number, decide: (receiver: Receiver) => EndedTurn): Promise<void>;
  /** Queues a ping, due at once. Undefined if `MOST_PINGS` wait. */
  ping(webhookId: WebhookId, createdAt: Instant, transaction?: Transaction): Promise<WebhookDelivery | undefined>;
  /** At most `limit` deliveries of the webhook whose events are kept, newest first: those next to the given place. */
  list(query: DeliveryQuery): Promise<readonly WebhookDelivery[]>;
  /** Undefined if the webhook has no such delivery, or its event is no longer kept. */
  find(webhookId: WebhookId, id: DeliveryId): Promise<DeliveryWithBody | undefined>;
  /** Queues the delivery again, with all its attempts; it is due at once. Undefined if there is no such delivery. */
  retry(webhookId: WebhookId, id: DeliveryId, transaction?: Transaction): Promise<WebhookDelivery | undefined>;
  /** Stores the wish to get again, from the next turn on, what has failed or was never sent since that instant. */
  recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void>;
  backlog(): Promise<WebhookBacklog>;
  /** Deletes the pings that were created at or before that instant. Returns their number. */
  purgePings(createdUntil: Instant): Promise<number>;
  /** Deletes the deliveries of purged events, and those of webhooks that were deleted. Returns their number. */
  purgeForgotten(): Promise<number>;
}
