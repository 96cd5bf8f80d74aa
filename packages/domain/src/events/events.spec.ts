import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../accounts/account.js';
import type { Animal, AnimalId, CategoryId } from '../animals/animal.js';
import { createApplication } from '../application.js';
import { DAY, instant, MINUTE } from '../kernel/clock.js';
import { INT64_MAX } from '../kernel/int64.js';
import { deliveryEnded, type Message, type MessageId } from '../messages/message.js';
import { anOrder } from '../testing/builders.js';
import { inMemoryPorts } from '../testing/index.js';
import {
  cursorOf,
  decideSequence,
  EVENT_TYPES,
  type EventId,
  type EventPosition,
  type EventSequence,
  isForAll,
  publishedData,
  receiverOf,
  type StoreEvent,
} from './event.js';

const alice = 1n as AccountId;
const noon = instant(Date.UTC(2026, 0, 1, 12));
const animal: Animal = { id: 3n as AnimalId, name: '"Luna"', categoryId: INT64_MAX as CategoryId, status: 'sold' };
const order = anOrder({ accountId: alice, createdAt: noon, updatedAt: noon });
const id = 'msg_1' as MessageId;
const message: Message = { id, accountId: alice, text: 'Hello\n', status: 'queued', createdAt: noon };
const requested = { ...message, traceparent: 'trace', requestId: 'request' };

describe('an event', () => {
  const events: readonly StoreEvent[] = [
    { type: 'pet.added', data: animal },
    { type: 'order.placed', data: order },
    deliveryEnded(requested, 'failed'),
  ];

  it('is published with its resource as the API shows it, every digit of its ids, and nothing else', () => {
    expect(events.map(publishedData)).toEqual([
      '{"id":3,"name":"\\"Luna\\"","categoryId":9223372036854775807,"status":"sold"}',
      `{"id":5,"petId":3,"status":"placed","createdAt":"2026-01-01T12:00:00.000Z","updatedAt":"2026-01-01T12:00:00.000Z"}`,
      `{"id":"msg_1","message":"Hello\\n","status":"failed","createdAt":"2026-01-01T12:00:00.000Z"}`,
    ]);
  });

  it('of an animal is for everybody, any other for its own account', () => {
    expect(EVENT_TYPES.filter(isForAll)).toEqual(['pet.added', 'pet.changed', 'pet.removed']);
    expect(events.map(receiverOf)).toEqual([undefined, alice, alice]);
  });

  it('has the milliseconds of the clock as its sequence, or the one after the last, if the clock isn’t so far', () => {
    const after = (last: number) => decideSequence(last as EventSequence, noon);
    for (const last of [0, noon - 1]) expect(after(last)).toBe(noon);
    for (const last of [noon, noon + 5]) expect(after(last)).toBe(last + 1);
  });
});

describe('the feed', () => {
  const openStore = async (count: number) => {
    const ports = inMemoryPorts();
    const application = createApplication(ports, testPolicy(), { eventRetention: DAY });
    const add = () => application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
    for (let index = 0; index < count; index += 1) await add();
    const list = (input: object = {}) => application.listEvents.execute({ accountId: alice, ...input });
    /** Behind the place, as a cursor that the feed has given for it. */
    const listAfter = (position: bigint) => {
      // In memory each event's id is its number.
      const id = position > 0n ? `evt_${position.toString(16).padStart(32, '0')}` : undefined;
      const place = { position: position as EventPosition, id: id as EventId | undefined };
      return list({ after: cursorOf(place, ports.cryptography) });
    };
    return { ...application, ...ports, add, list, listAfter };
  };

  it('begins with the oldest event, of every type, twenty at a time, and goes on behind the last one', async () => {
    const { list, add } = await openStore(21);
    const first = await list();
    expect(first).toMatchObject({ events: { length: 20 }, next: { position: 20n } });
    const second = await list({ after: first.next });
    expect(second).toMatchObject({ events: [{ position: 21n }], next: { position: 21n } });
    await add();
    expect(await list({ after: second.next })).toMatchObject({ events: [{ position: 22n }], next: { position: 22n } });
  });

  it('has an event as soon as its change is stored, and goes on behind events of other types', async () => {
    const { list, publishEvents } = await openStore(3);
    expect(await list({ types: ['pet.changed'] })).toMatchObject({ events: [], next: { position: 3n } });
    expect((await list({ types: ['pet.added'], limit: 2 })).events).toHaveLength(2);
    expect(await publishEvents.execute()).toEqual({ mayHaveMore: false });
    expect(await publishEvents.backlog()).toEqual({ oldest: undefined });
  });

  it('begins now if that is asked for: with an empty page, behind which comes what is published later', async () => {
    const { list, publishEvents, add } = await openStore(2);
    await publishEvents.execute();
    await add();
    const now = await list({ from: 'now', types: ['pet.added'], limit: 1 });
    expect(now).toMatchObject({ events: [], next: { position: 2n } });
    expect(await publishEvents.execute()).toEqual({ mayHaveMore: true });
    expect(await list({ after: now.next })).toMatchObject({ events: [{ position: 3n }], next: { position: 3n } });
    const both = { code: 'invalid_parameter', message: "from can't be given with cursor" };
    await expect(list({ from: 'now', after: now.next })).rejects.toMatchObject(both);
    for (const input of [{ from: 'now', limit: 0 }, { limit: 101 }])
      await expect(list(input)).rejects.toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });

  it('publishes a thousand events at a time', async () => {
    const { publishEvents, clock } = await openStore(1_001);
    expect(await publishEvents.backlog()).toEqual({ oldest: clock.now() });
    expect(await publishEvents.execute()).toEqual({ mayHaveMore: true });
    expect(await publishEvents.execute()).toEqual({ mayHaveMore: true });
    expect(await publishEvents.execute()).toEqual({ mayHaveMore: false });
  });

  const EXPIRED = { code: 'cursor_expired', kind: 'gone', message: expect.stringMatching(/cursor.* list .* again/) };

  it('refuses a cursor from before the kept events, or from behind the last one, and no other', async () => {
    const { list, listAfter, add, clock, publishEvents, purgeExpired } = await openStore(2);
    await publishEvents.execute();
    clock.advance(MINUTE);
    await add();
    await publishEvents.execute();
    clock.advance(DAY - MINUTE);
    expect(await purgeExpired.execute('events')).toBe(2);
    for (const position of [-1n, 0n, 1n, 4n]) await expect(listAfter(position)).rejects.toMatchObject(EXPIRED);
    expect(await listAfter(2n)).toMatchObject({ events: [{ position: 3n }], next: { position: 3n } });
    expect(await listAfter(3n)).toMatchObject({ events: [], next: { position: 3n } });
    expect(await list()).toMatchObject({ events: [{ position: 3n }] });
  });

  it('refuses a cursor of events that a restore has undone, also once it has passed it, and no other', async () => {
    const { list, add, events } = await openStore(2);
    const kept = await list();
    const restore = events.backUp();
    await add();
    const undone = await list();
    restore();
    await expect(list({ after: undone.next })).rejects.toMatchObject(EXPIRED);
    await add();
    for (const more of [3n, 4n]) {
      expect(await list({ after: kept.next })).toMatchObject({ next: { position: more } });
      await expect(list({ after: undone.next })).rejects.toMatchObject(EXPIRED);
      await add();
    }
  });
});
