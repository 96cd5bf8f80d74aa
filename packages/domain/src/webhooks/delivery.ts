import type { EventId, EventSequence, EventType } from '../events/event.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, HOUR, type Instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import type { Webhook, WebhookId } from './webhook.js';
import type { WebhookSecrets } from './webhook-secrets.js';
import type { WebhookResponse } from './webhook-sender.js';

/** `dlv_` and 32 hexadecimal digits. They don't show the order of deliveries. */
export type DeliveryId = Branded<string, 'DeliveryId'>;

export function deliveryIdFrom(text: string): DeliveryId | undefined {
  return /^dlv_[0-9a-f]{32}$/.test(text) ? (text as DeliveryId) : undefined;
}

export const DELIVERY_STATUSES = ['queued', 'sent', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The type of the delivery that `PingWebhook` sends. No event has this type. */
export const PING = 'webhook.ping';

/** How many of a delivery's attempts are kept: the latest ones. */
export const KEPT_ATTEMPTS = 10;

/** The result of one attempt to deliver. */
export interface DeliveryAttempt {
  readonly attemptedAt: Instant;
  /** Undefined if there was no response. */
  readonly responseStatus: number | undefined;
  /** Milliseconds until the response, or until the attempt failed without one. */
  readonly duration: number;
}

/** The delivery of one event, or of a ping, to one webhook. */
export interface WebhookDelivery {
  readonly id: DeliveryId;
  /** Undefined for a ping. */
  readonly eventId: EventId | undefined;
  readonly type: EventType | typeof PING;
  readonly status: DeliveryStatus;
  /** Attempts since it was queued, or since its owner last queued it again. */
  readonly attempts: number;
  /** The status of the last response. Undefined if there was none. */
  readonly responseStatus: number | undefined;
  /** Its last attempts, oldest first, including those from before its owner queued it again. */
  readonly history: readonly DeliveryAttempt[];
  readonly createdAt: Instant;
  /** Undefined unless the delivery is queued and its webhook is enabled. */
  readonly nextAttemptAt: Instant | undefined;
}

/** A delivery, and the JSON that it sends. */
export interface DeliveryWithBody {
  readonly delivery: WebhookDelivery;
  readonly body: string;
}

/** A webhook, and the results of its last rounds. */
export interface Receiver extends Pick<Webhook, 'id' | 'accountId' | 'url' | 'description' | 'status' | 'updatedAt'> {
  /** Successive rounds, up to the last one, in which nothing was delivered. */
  readonly failedRounds: number;
  /** The time of the first failed attempt since the last successful one. */
  readonly failingSince: Instant | undefined;
  /** When a delivery was last attempted. */
  readonly attemptedAt: Instant | undefined;
}

/** A delivery that is attempted in a round. */
export interface DueDelivery extends Pick<WebhookDelivery, 'id' | 'eventId' | 'type'> {
  /** Failed attempts since it was queued, or since its owner last queued it again. */
  readonly failures: number;
  /** How often its owner has queued it again. */
  readonly requeued: number;
  /** That of the event. Undefined for a ping. */
  readonly sequence: EventSequence | undefined;
  /** When the event happened. */
  readonly createdAt: Instant;
  /** The JSON of the event's data. */
  readonly data: string;
}

/** The exclusive right of one worker to call a receiver, until the round is ended or its lease expires. */
export interface Round {
  /** Each later round of the webhook has a higher number. */
  readonly number: number;
  /** When the round began, by the queue's clock. */
  readonly takenAt: Instant;
  readonly receiver: Receiver;
  readonly secrets: WebhookSecrets;
  /** At least one. */
  readonly deliveries: readonly DueDelivery[];
}

/** A receiver whose last round took a second gets the next one as if it had become due a minute later. */
export const SLOW_WAIT = 60;

/** The delivery's status after an attempt. */
export type DeliveryOutcome =
  | { readonly status: 'sent' | 'failed' }
  /** It is attempted again after `pause` milliseconds. */
  | { readonly status: 'queued'; readonly pause: number };

/** A webhook is disabled after all its deliveries have failed for this long. */
export const MOST_FAILING = 5 * DAY;

/** After a longer time without any attempt, a receiver doesn't count as failing since before. */
const LONGEST_GAP = 2 * DAY;

/** The longest `Retry-After` of a receiver that is respected. */
const LONGEST_RETRY_AFTER = DAY;

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

const FIRST_ROUND_PAUSE = 5 * SECOND;
const LONGEST_ROUND_PAUSE = MINUTE;

/** The changes of a receiver at the end of its round. */
export interface RoundEnd extends Pick<Receiver, 'status' | 'updatedAt' | 'failedRounds' | 'failingSince'> {
  /** Milliseconds until its next round. */
  readonly pause: number;
  /** Whether it is disabled because nothing was delivered for five days. Its owner gets a mail. */
  readonly isFailing: boolean;
}

/** A receiver answers 410 Gone to ask that nothing is sent to it any more. */
export const GONE = 410;
const ASK_TO_WAIT = [429, 503];

export function isSuccess({ status }: WebhookResponse): boolean {
  return status >= 200 && status < 300;
}

/** What came of the delivery attempts of a round, of which there is at least one. */
export interface RoundResponses {
  /** The URL to which they were sent. */
  readonly url: string;
  /** Undefined for an attempt without a response. */
  readonly responses: readonly (WebhookResponse | undefined)[];
}

/**
 * The end of a round. A receiver that fails gets longer pauses between its rounds, so that it occupies fewer workers.
 * (Each delivery has its own pauses, too.) If the webhook's URL was changed meanwhile, the attempts don't count: they
 * say nothing about the new receiver.
 */
export function decideRoundEnd(receiver: Receiver, { url, responses }: RoundResponses, now: Instant): RoundEnd {
  const { status, updatedAt, failedRounds } = receiver;
  if (receiver.url !== url || status === 'disabled')
    return { status, updatedAt, failedRounds: 0, failingSince: undefined, pause: 0, isFailing: false };
  const answers = responses.filter((response) => response !== undefined);
  const isGone = answers.some((response) => response.status === GONE);
  const hasDelivered = answers.some(isSuccess);
  const failingSince = hasDelivered ? undefined : stillFailingSince(receiver, now);
  const failsTooLong = failingSince !== undefined && now >= later(failingSince, MOST_FAILING);
  const isDisabled = isGone || failsTooLong;
  const ownPause = hasDelivered ? 0 : Math.min(FIRST_ROUND_PAUSE * 2 ** failedRounds, LONGEST_ROUND_PAUSE);
  return {
    status: isDisabled ? 'disabled' : status,
    updatedAt: isDisabled ? now : updatedAt,
    failedRounds: hasDelivered ? 0 : failedRounds + 1,
    failingSince,
    pause: Math.max(ownPause, ...answers.map(askedPause)),
    isFailing: failsTooLong && !isGone,
  };
}

/** Since when the receiver fails. It begins anew if nobody has called the receiver for days. */
function stillFailingSince({ failingSince, attemptedAt }: Receiver, now: Instant): Instant {
  const isKnown = attemptedAt !== undefined && now <= later(attemptedAt, LONGEST_GAP);
  return isKnown && failingSince !== undefined ? failingSince : now;
}

/** Milliseconds for which the receiver asks not to be called (RFC 9110 §10.2.3). */
function askedPause({ status, retryAfter = 0 }: WebhookResponse): number {
  return ASK_TO_WAIT.includes(status) ? Math.min(retryAfter, LONGEST_RETRY_AFTER) : 0;
}

/** The data of a ping. */
export function pingData(id: WebhookId): string {
  return `{"id":"${id}"}`;
}

type Sent = Pick<DueDelivery, 'type' | 'sequence' | 'createdAt' | 'data'>;

/** The body of the request to a receiver. */
export function deliveryBody({ type, sequence, createdAt, data }: Sent): string {
  const numbered = sequence === undefined ? '' : `"sequence":${sequence},`;
  return `{"type":"${type}","timestamp":"${new Date(createdAt).toISOString()}",${numbered}"data":${data}}`;
}
