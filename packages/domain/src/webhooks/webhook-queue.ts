import type { NewAccountMail } from '../accounts/mails/account-mail.js';
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
  Round,
  RoundEnd,
  WebhookDelivery,
} from './delivery.js';
import type { WebhookId } from './webhook.js';

export interface RoundRequest {
  /** The most deliveries of the round. It has fewer if their events are large. */
  readonly limit: number;
  /** Milliseconds after which the round expires, unless it is ended earlier. */
  readonly lease: number;
  /** Only webhooks whose last round took no more milliseconds. Default: all. */
  readonly longestRound?: number | undefined;
}

export interface DeliveryQuery extends PagePart<DeliveryId> {
  readonly webhookId: WebhookId;
}

/** The state of all webhooks, for the operator. Each number is at most `MOST_COUNTED`. */
export interface WebhookBacklog {
  /** Events and deliveries that wait for rounds of webhooks, unless these are disabled or their accounts lack a scope. */
  readonly waiting: number;
  /** Enabled webhooks to which nothing could be delivered in their last round. */
  readonly failing: number;
  /** The earliest due round that no worker has taken, of a webhook that doesn't fail. Undefined if there is none. */
  readonly dueSince: Instant | undefined;
}

/** What is stored at the end of a round. */
export interface EndedRound {
  readonly end: RoundEnd;
  /** A mail to the owner. */
  readonly notice?: NewAccountMail | undefined;
}

/**
 * Port: the deliveries of events to webhooks. Each enabled webhook has its own position in the feed. In a round that
 * has room for more deliveries, it takes a bounded number of the next events after that position. So a delivery is
 * stored only shortly before it is sent, and a receiver that is slow or dead occupies one round, however many events it
 * has missed.
 *
 * Only the queue's own clock decides what is due. Each method is atomic, and durable once its promise resolves.
 */
export interface WebhookQueue {
  /** Makes a round due for each webhook that waits for events and has some in the feed. Returns how many they are. */
  wake(): Promise<number>;
  /**
   * Takes a round of one receiver: first one of an account with fewer open rounds, then the one that has been due
   * longest, if its last round was quick (`SLOW_WAIT`). Undefined if no round is due. A webhook whose account lacks one
   * of `DELIVERY_SCOPES` gets no round; once the account has them, it continues where it stopped.
   */
  takeRound(request: RoundRequest): Promise<Round | undefined>;
  /**
   * Records an attempt and its outcome. Does nothing if the owner has queued the delivery again meanwhile, or if the
   * attempt failed and another one has sent the delivery.
   */
  settle(delivery: DueDelivery, outcome: DeliveryOutcome, attempt: DeliveryAttempt): Promise<void>;
  /**
   * Ends a round with the result of `decide`, which gets the current webhook, locked. Does nothing if the webhook was
   * deleted, or a later round exists.
   *
   * @param took milliseconds that the round took.
   */
  endRound(round: Round, took: number, decide: (receiver: Receiver) => EndedRound): Promise<void>;
  backlog(): Promise<WebhookBacklog>;
  /** Deletes the pings that were created at or before that instant. Returns their number. */
  purgePings(createdUntil: Instant): Promise<number>;
  /** Deletes the deliveries of purged events, and those of webhooks that were deleted. Returns their number. */
  purgeForgotten(): Promise<number>;
}

/**
 * Port: the deliveries of one webhook, as its owner sees them, and those that its owner asks for. Each method is atomic;
 * with a transaction, nothing changes if that fails.
 */
export interface WebhookDeliveries {
  /** Queues a ping that is due at once. Undefined if `MOST_PINGS` are queued already. */
  ping(webhookId: WebhookId, createdAt: Instant, transaction?: Transaction): Promise<WebhookDelivery | undefined>;
  /** At most `limit` deliveries of the webhook whose events are kept, newest first: those next to the given position. */
  list(query: DeliveryQuery): Promise<readonly WebhookDelivery[]>;
  /** Undefined if the webhook has no such delivery, or its event is no longer kept. */
  find(webhookId: WebhookId, id: DeliveryId): Promise<DeliveryWithBody | undefined>;
  /** Queues the delivery again, due at once and with all its attempts. Undefined if there is no such delivery. */
  retry(webhookId: WebhookId, id: DeliveryId, transaction?: Transaction): Promise<WebhookDelivery | undefined>;
  /** From the next round on, events since that instant are sent whose delivery has failed or never began. */
  recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void>;
}
