import { EVENT_TYPES, type PublishedEvent } from '@adoption-store/domain';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, int64, isoTime, object, oneOf, openSet, schemaRef, time } from '../http/operations/schema.js';

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
  type: openSet(EVENT_TYPES, 'What has happened.'),
  sequence,
  createdAt: time('When it happened.'),
  data: {
    description:
      'The resource as it was afterwards: of `pet.…` the animal, of `order.…` the order, of `message.…` the message.',
    oneOf: [schemaRef('Pet'), schemaRef('Order'), schemaRef('Message')],
  },
} satisfies Record<Exclude<keyof PublishedEvent, 'position'>, Described>;

export const eventSchemas = new ResourceSchemas({
  Event: object('Something that has happened in the store.', event, PLACED_EVENT),
  EventType: oneOf(EVENT_TYPES, 'The types of events.'),
  EventStart: oneOf(['now'], 'Where a list of events begins.'),
});

/** The JSON of a page: Events. The data is JSON already, and nothing else has characters to escape. */
export function presentEvents(events: readonly PublishedEvent[]): string {
  const shown = events.map(
    ({ id, type, sequence, createdAt, data }) =>
      `{"id":"${id}","type":"${type}","sequence":${sequence},"createdAt":"${isoTime(createdAt)}","data":${data}}`,
  );
  return `[${shown.join(',')}]`;
}
