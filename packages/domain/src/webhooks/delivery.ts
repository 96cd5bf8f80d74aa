import type { EventId, EventType } from '../events/event.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, HOUR, type Instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import type { Webhook, WebhookId, WebhookSecrets } from './webhook.js';
import type { WebhookResponse } from './webhook-sender.js';

/** `dlv_` and 32 hexadecimal digits, which say nothing about their order. */
export type DeliveryId = Branded<string, 'DeliveryId'>;

export function isDeliveryId(text: string): text is DeliveryId {
  return /^dlv_[0-9a-f]{32}$/.test(text);
}

export const DELIVERY_STATUSES = ['queued', 'sent', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The type of what `PingWebhook` sends. No event has it. */
export const PING = 'webhook.ping';

/** Attempts of a delivery that are kept, the latest ones. */
export const KEPT_ATTEMPTS = 10;

/** What came of one attempt to deliver. */
export interface DeliveryAttempt {
  readonly attemptedAt: Instant;
  /** Undefined if there was no response. */
  readonly responseStatus: number | undefined;
  /** Milliseconds until the response, or until there could be none. */
  readonly duration: number;
}

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
  /** Its last attempts, oldest first: also those from before its owner queued it again. */
  readonly history: readonly DeliveryAttempt[];
  readonly createdAt: Instant;
  /** Undefined unless it is queued, and its webhook enabled. */
  readonly nextAttemptAt: Instant | undefined;
}

/** A delivery, and the JSON that it sends. */
export interface DeliveryWithBody {
  readonly delivery: WebhookDelivery;
  readonly body: string;
}

/** A webhook in its turn, and how its turns have gone. */
export interface Receiver extends Pick<Webhook, 'id' | 'accountId' | 'url' | 'description' | 'status' | 'updatedAt'> {
  /** Turns in succession in which nothing was delivered. */
  readonly failedTurns: number;
  /** The first failed attempt since the last successful one. */
  readonly failingSince: Instant | undefined;
  /** When a delivery was last attempted. */
  readonly attemptedAt: Instant | undefined;
}

/** A delivery that is to be attempted in a turn. */
export interface DueDelivery extends Pick<WebhookDelivery, 'id' | 'eventId' | 'type'> {
  /** Failed attempts so far, since it was last queued by its owner. */
  readonly failures: number;
  /** How often its owner has queued it again. */
  readonly requeued: number;
  /** When the event happened. */
  readonly createdAt: Instant;
  /** The JSON of the event's data. */
  readonly data: string;
}

/** The right to call a receiver, until the turn ends or its lease. Nobody else calls it meanwhile. */
export interface Turn {
  /** Each later turn of the webhook has a higher number. */
  readonly number: number;
  /** By the queue's clock. */
  readonly takenAt: Instant;
  readonly receiver: Receiver;
  readonly secrets: WebhookSecrets;
  /** At least one. */
  readonly deliveries: readonly DueDelivery[];
}

/** What an attempt leads to. */
export type DeliveryOutcome =
  | { readonly status: 'sent' | 'failed' }
  /** It is attempted again after `pause` milliseconds. */
  | { readonly status: 'queued'; readonly pause: number };

/** How long all deliveries of a webhook may fail before it is disabled. */
const MOST_FAILING = 5 * DAY;

/** A longer time without an attempt says nothing about a receiver. */
const LONGEST_GAP = 2 * DAY;

/** How long a receiver may ask not to be called. */
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

const FIRST_TURN_PAUSE = 5 * SECOND;
const LONGEST_TURN_PAUSE = MINUTE;

/** What follows a turn for its receiver. */
export interface TurnEnd extends Pick<Receiver, 'status' | 'updatedAt' | 'failedTurns' | 'failingSince'> {
  /** Milliseconds until its next turn. */
  readonly pause: number;
  /** Whether it is disabled because nothing was delivered for five days, which its owner doesn't know. */
  readonly isFailing: boolean;
}

/** The receiver says that nothing must be sent to it any more. */
export const GONE = 410;
const ASK_TO_WAIT = [429, 503];

export function isSuccess({ status }: WebhookResponse): boolean {
  return status >= 200 && status < 300;
}

/** The attempts of a turn, of which there is at least one. */
export interface Attempts {
  /** Where they were sent. */
  readonly url: string;
  /** Undefined for an attempt without a response. */
  readonly responses: readonly (WebhookResponse | undefined)[];
}

/**
 * What follows the attempts of a turn. A receiver that fails is asked less often, so that it holds fewer turns; each delivery
 * has its own pauses besides. Attempts at a URL that was changed meanwhile say nothing about the receiver.
 */
export function decideTurnEnd(receiver: Receiver, { url, responses }: Attempts, now: Instant): TurnEnd {
  const { status, updatedAt } = receiver;
  const well = { status, updatedAt, failedTurns: 0, failingSince: undefined, pause: 0, isFailing: false };
  if (receiver.url !== url || status === 'disabled') return well;
  const answers = responses.filter((response) => response !== undefined);
  const asked = Math.max(0, ...answers.map(askedPause));
  const isGone = answers.some((response) => response.status === GONE);
  const disabled = { status: 'disabled', updatedAt: now } as const;
  if (answers.some(isSuccess)) return { ...well, pause: asked, ...(isGone && disabled) };
  const failingSince = stillFailingSince(receiver, now);
  const isFailing = now >= later(failingSince, MOST_FAILING);
  const pause = Math.min(FIRST_TURN_PAUSE * 2 ** receiver.failedTurns, LONGEST_TURN_PAUSE);
  return {
    status,
    updatedAt,
    failedTurns: receiver.failedTurns + 1,
    failingSince,
    pause: Math.max(pause, asked),
    isFailing: isFailing && !isGone,
    ...((isFailing || isGone) && disabled),
  };
}

/** A receiver that nobody has called for days has not been failing meanwhile. */
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

/** What a receiver gets. */
export function deliveryBody({ type, createdAt, data }: Pick<DueDelivery, 'type' | 'createdAt' | 'data'>): string {
  return `{"type":"${type}","timestamp":"${new Date(createdAt).toISOString()}","data":${data}}`;
}
