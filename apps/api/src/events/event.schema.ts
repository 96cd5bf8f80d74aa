import {
  EVENT_TYPES,
  isoTime,
  type PublishedEvent,
  type EventCursor,
  type EventHash,
  type EventPosition,
  int64From,
} from '@adoption-store/domain';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, int64, object, oneOf, schemaRef, time } from '../http/operations/schema.js';

export const PLACED_EVENT = {
  id: 'evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6',
  type: 'order.placed',
  sequence: 1_795_262_400_001,
  createdAt: '2026-11-21T12:00:00.000Z',
  data: {
    id: 1,
    petId: 1,
    status: 'placed',
    createdAt: '2026-11-21T12:00:00.000Z',
    updatedAt: '2026-11-21T12:00:00.000Z',
  },
};

export const ADDED_EVENT = {
  ...PLACED_EVENT,
  id: 'evt_0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e',
  type: 'pet.added',
  sequence: 1_795_262_400_000,
  data: { id: 1, name: 'Luna', categoryId: 1, status: 'available' },
};

const SENT_EVENT = {
  ...PLACED_EVENT,
  id: 'evt_9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b',
  type: 'message.sent',
  data: {
    id: 'msg_2Yb8kQ0xWm4TzR7nLc5VhJ1s',
    message: 'Is Luna still there?',
    status: 'sent',
    createdAt: '2026-11-21T12:00:00.000Z',
  },
};

/** With its format no generated client takes it for an int32. With its maximum it needs no bigint. */
export const sequence = {
  ...int64(
    'Greater than that of every earlier event, also across a restore of the database. Of the events of a resource that ' +
      'arrived in another order, the greatest has its state.',
    PLACED_EVENT.sequence,
  ),
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
};

const event = {
  id: { type: 'string', pattern: '^evt_[0-9a-f]{32}$', description: 'Unique identifier.', examples: [PLACED_EVENT.id] },
  type: { type: 'string', description: 'What has happened.' },
  sequence,
  createdAt: time('When it happened.'),
  data: { type: 'object', description: 'The resource as it was afterwards.' },
} satisfies Record<Exclude<keyof PublishedEvent, 'position'>, Described>;

function eventOf(schema: string, kind: string, example: Described): Described {
  const types = EVENT_TYPES.filter((type) => type.startsWith(`${kind}.`));
  const type = { ...event.type, enum: types, examples: [example['type']] };
  return object(`What has happened to ${kind}s.`, { ...event, type, data: schemaRef(schema) }, example);
}

/**
 * A branch of its own takes types that are added later. It is the last, because generated clients take the first that fits.
 * A discriminator would let them refuse those types.
 */
export const eventSchemas = new ResourceSchemas({
  Event: {
    description: 'Something that has happened in the store. Its `type` says what `data` is.',
    anyOf: ['PetEvent', 'OrderEvent', 'MessageEvent', 'OtherEvent'].map(schemaRef),
    examples: [PLACED_EVENT],
  },
  PetEvent: eventOf('Pet', 'pet', ADDED_EVENT),
  OrderEvent: eventOf('Order', 'order', PLACED_EVENT),
  MessageEvent: eventOf('Message', 'message', SENT_EVENT),
  OtherEvent: object('An event of a type that is added later: ignore it if you do not know its type.', {
    ...event,
    type: { ...event.type, not: { enum: [...EVENT_TYPES] } },
  }),
  EventType: oneOf(EVENT_TYPES, 'The types of events.'),
  EventStart: { type: 'string', enum: ['now'], description: 'Where a list of events begins.', examples: ['now'] },
});

/** The JSON of a page: Events. The data is JSON already, and nothing else has characters to escape. */
export function presentEvents(events: readonly PublishedEvent[]): string {
  const shown = events.map(
    ({ id, type, sequence, createdAt, data }) =>
      `{"id":"${id}","type":"${type}","sequence":${sequence},"createdAt":"${isoTime(createdAt)}","data":${data}}`,
  );
  return `[${shown.join(',')}]`;
}

export function eventCursorText({ position, hash }: EventCursor): string {
  return `${position}.${hash}`;
}

/**
 * The position in a cursor of `eventCursorText`. Undefined if it is none. Before the first release cursors named no
 * event: without a hash, or with what stood in its place, they are expired.
 */
export function readEventCursor(text: string): EventCursor | undefined {
  const [place, hash = ''] = text.split('.');
  const position = int64From(place) as EventPosition | undefined;
  return position === undefined ? undefined : { position, hash: hash as EventHash };
}
