import type { EventId, EventType } from '../events/event.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, HOUR, type Instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { int64From } from '../kernel/int64.js';
import type { Claimed } from '../deliveries/delivery-queue.js';
import type { Webhook, WebhookId, WebhookSecrets } from './webhook.js';

/** `dlv_` and a number. Each later delivery of a webhook has a greater one. */
export type DeliveryId = Branded<string, 'DeliveryId'>;
const PREFIX = 'dlv_';

/** The id of the delivery with that number. */
export function deliveryId(number: bigint | string): DeliveryId {
  return `${PREFIX}${number}` as DeliveryId;
}

/** The number in the id of a delivery. Undefined if no delivery has such an id. */
export function deliveryNumber(id: string): bigint | undefined {
  return id.startsWith(PREFIX) ? int64From(id.slice(PREFIX.length)) : undefined;
}

export const DELIVERY_STATUSES = ['queued', 'sent', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The type of what `PingWebhook` sends. No event has it. */
export const PING = 'webhook.ping';

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  readonly id: DeliveryId;
  /** Undefined for a ping. */
  readonly eventId: EventId | undefined;
  readonly type: EventType | typeof PING;
  readonly status: DeliveryStatus;
  /** Attempts so far, since it was last queued by its owner. */
  readonly attempts: number;
  /** The status of the last response. Undefined if there was none. */
  readonly responseStatus: number | undefined;
  readonly createdAt: Instant;
  /** Undefined unless it is queued. */
  readonly nextAttemptAt: Instant | undefined;
}

/** The webhook of a turn, and how its turns have gone. */
export interface Receiver extends Pick<Webhook, 'id' | 'accountId' | 'url'> {
  readonly secrets: WebhookSecrets;
  /** Turns in succession in which nothing was delivered. */
  readonly failedTurns: number;
  /** The first failed attempt since the last successful one. */
  readonly failingSince: Instant | undefined;
}

/** A delivery that is to be attempted in a turn of its receiver. The claim's number is the turn's. */
export interface ClaimedDelivery extends Claimed<DeliveryId>, Pick<WebhookDelivery, 'eventId' | 'type'> {
  readonly receiver: Receiver;
  /** When the event happened. */
  readonly createdAt: Instant;
  /** The JSON of the event's data. */
  readonly data: string;
}

/** How long all deliveries of a webhook may fail before it is disabled. */
export const MOST_FAILING = 5 * DAY;

/** The pauses after the first failed attempt, the second …; after the last one the delivery has failed. */
export const PAUSES: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

const FIRST_TURN_PAUSE = 5 * SECOND;
const LONGEST_TURN_PAUSE = MINUTE;

/** What follows a turn for its receiver. */
export interface TurnEnd extends Pick<Receiver, 'failedTurns' | 'failingSince'> {
  /** Milliseconds until its next turn. */
  readonly pause: number;
  /** Why the webhook is disabled: the receiver said that it is gone, or nothing was delivered for five days. */
  readonly disabled?: 'gone' | 'failing';
}

export function isSuccess(responseStatus: number): boolean {
  return responseStatus >= 200 && responseStatus < 300;
}

/** The receiver says that nothing must be sent to it any more. */
export const GONE = 410;

/**
 * What follows the attempts of a turn, of which there is at least one. A receiver that fails is asked less often, so that it
 * holds fewer turns; each delivery has its own pauses besides.
 *
 * @param responses the status of each response; undefined for an attempt without one.
 */
export function decideTurnEnd(
  { failedTurns, failingSince }: Pick<Receiver, 'failedTurns' | 'failingSince'>,
  { responses }: { readonly responses: readonly (number | undefined)[] },
  now: Instant,
): TurnEnd {
  const isGone = responses.includes(GONE) && ({ disabled: 'gone' } as const);
  if (responses.some((status) => status !== undefined && isSuccess(status))) {
    return { failedTurns: 0, failingSince: undefined, pause: 0, ...isGone };
  }
  const pause = Math.min(FIRST_TURN_PAUSE * 2 ** failedTurns, LONGEST_TURN_PAUSE);
  const since = failingSince ?? now;
  const isFailing = now >= later(since, MOST_FAILING) && ({ disabled: 'failing' } as const);
  return { failedTurns: failedTurns + 1, failingSince: since, pause, ...isFailing, ...isGone };
}

/** The data of a ping. */
export function pingData(id: WebhookId): string {
  return `{"id":"${id}"}`;
}

/** What a receiver gets. */
export function deliveryBody({ type, createdAt, data }: Pick<ClaimedDelivery, 'type' | 'createdAt' | 'data'>): string {
  return `{"type":"${type}","timestamp":"${new Date(createdAt).toISOString()}","data":${data}}`;
}
