import type { AccountId } from '../accounts/account.js';
import type { AnimalEvent } from '../animals/animal.js';
import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError, errorCodes, ours } from '../kernel/errors.js';
import type { MessageEvent } from '../messages/message.js';
import { type OrderEvent, ORDER_STATUSES } from '../orders/order.js';
import { messageJsonText } from '../published/message.js';
import { orderJsonText } from '../published/order.js';
import { petJsonText } from '../published/pet.js';

export const eventErrors = errorCodes({
  cursor_expired: 'gone',
});

/** `evt_` and 32 hexadecimal digits. */
export type EventId = Branded<string, 'EventId'>;

/** The place of a published event among all. */
export type EventPosition = Branded<bigint, 'EventPosition'>;

/** Each event has a greater one than those before it, also than those that a restore of the database has undone. */
export type EventSequence = Branded<number, 'EventSequence'>;

/** A position, and the event that has it: a restored feed gives a position again, but to another event. */
export interface EventPlace {
  readonly position: EventPosition;
  /** Undefined before the first event. */
  readonly id: EventId | undefined;
}

/** Where a reader goes on: behind a place. */
export interface EventCursor {
  readonly position: EventPosition;
  readonly hash: EventHash;
}

/** A hash of an event's id, in 16 hexadecimal digits: a cursor shows no id, because the event may be another account's. */
export type EventHash = Branded<string, 'EventHash'>;

/** What has happened in the store, with the resource as it is afterwards. */
export type StoreEvent = AnimalEvent | OrderEvent | MessageEvent;

export type EventType = StoreEvent['type'];

const PET_EVENT_TYPES = ['pet.added', 'pet.changed', 'pet.removed'] as const satisfies readonly EventType[];

export const EVENT_TYPES: readonly EventType[] = [
  ...PET_EVENT_TYPES,
  ...ORDER_STATUSES.map((status) => `order.${status}` as const),
  'message.sent',
  'message.failed',
];

/** Whether events of the type are for every account. The others are for their own account only. */
export function isForAll(type: EventType): boolean {
  return PET_EVENT_TYPES.some((each) => each === type);
}

/** The account that an event is for. Undefined: every account. */
export function receiverOf({ data }: StoreEvent): AccountId | undefined {
  return 'accountId' in data ? data.accountId : undefined;
}

/** An event as readers get it. */
export interface PublishedEvent extends EventPlace {
  readonly id: EventId;
  readonly type: EventType;
  readonly sequence: EventSequence;
  readonly createdAt: Instant;
  /** The JSON of `publishedData`. */
  readonly data: string;
}

/**
 * The sequence of the event that is published next. Milliseconds, because after a restore only the clock knows which ones
 * were given. It is ahead of the clock while more than a thousand events a second are published, as after an import.
 */
export function decideSequence(last: EventSequence, now: Instant): EventSequence {
  return Math.max(last + 1, now) as EventSequence;
}

export function cursorOf({ position, id }: EventPlace, cryptography: Pick<Cryptography, 'sha256'>): EventCursor {
  return { position, hash: cryptography.sha256(id ?? '').slice(0, 16) as EventHash };
}

export function cursorExpired(): DomainError {
  return new DomainError(
    eventErrors.cursor_expired,
    ours`cursor is from before the events that are kept, or from before a restore of the database; begin with from=now, list what you have a copy of again, and go on from there`,
  );
}

/** The JSON of an event's data. It is written with the change, stored and given to every reader as this text. */
export function publishedData({ data }: StoreEvent): string {
  if ('animalId' in data) return orderJsonText(data);
  return 'text' in data ? messageJsonText(data) : petJsonText(data);
}
