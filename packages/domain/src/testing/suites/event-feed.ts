import type { Account } from '../../accounts/account.js';
import { type Animal, type AnimalId, newAnimal } from '../../animals/animal.js';
import {
  EVENT_TYPES,
  type EventPosition,
  type EventType,
  publishedData,
  type PublishedEvent,
  type StoreEvent,
} from '../../events/event.js';
import type { EventFeed } from '../../events/event-feed.js';
import { DAY, instant, later } from '../../kernel/clock.js';
import { MAX_PAGE_SIZE } from '../../kernel/page.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { Message, MessageId } from '../../messages/message.js';
import { decidePlacement } from '../../orders/order.js';
import { addMessage, asStored, atOnce, NOON, openBefore, present, transactFor, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework, Transact } from './framework.js';

const MOST = MAX_PAGE_SIZE + 1;

type Needed = 'accounts' | 'animals' | 'events' | 'idempotency' | 'messages' | 'orders';

/** The guarantees of every `EventFeed`. */
export function eventFeedSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeEach, expect } = framework;
  describe(`an event feed (${name})`, () => {
    const unique = new Unique();
    let opened: OpenedQueue<Needed>;
    let ports: OpenedQueue<Needed>['ports'];
    let transact: Transact;
    let feed: EventFeed;
    let account: Account;
    let other: Account;
    /** The end of the feed when the test began. */
    let start: EventPosition;
    openBefore(framework, open, async (adapters) => {
      opened = adapters;
      ports = opened.ports;
      feed = ports.events;
      [account, other] = [await ports.accounts.open(unique.account()), await ports.accounts.open(unique.account())];
      transact = transactFor(account, ports, unique);
    });
    beforeEach(async () => {
      start = await publishAll();
    });

    const list = (query: Partial<Parameters<EventFeed['list']>[0]> = {}) =>
      feed.list({ accountId: account.id, types: EVENT_TYPES, after: start, limit: 100, ...query });
    const publishAll = async () => {
      while ((await feed.publish(1_000)) > 0);
      return (await feed.end()).position;
    };
    /** The published events since the test began, as the account reads them. */
    const published = async () => {
      await publishAll();
      return (await list()).events;
    };
    const shown = (events: readonly PublishedEvent[]) => events.map(({ type, data }) => ({ type, data }));

    const add = (animal = 'Luna', transaction?: Transaction) =>
      ports.animals.add(newAnimal({ name: animal, categoryId: 1n }), transaction);
    const added = (data: Animal): StoreEvent => ({ type: 'pet.added', data });
    const place = (animalId: AnimalId, by: Account) => {
      const placement = { accountId: by.id, animalId, limit: Infinity };
      return ports.orders.place(placement, (state) => decidePlacement(state, placement, NOON));
    };
    const queue = (by = account): Promise<Message> =>
      addMessage(ports, { id: unique.name() as MessageId, accountId: by.id, text: 'Hello\n"you"', createdAt: NOON });
    it('gives stored events positions one after another, the longest stored first and no more than asked for', async () => {
      const before = await feed.end();
      const animals = [await add('first'), await add('second'), await add('third')];
      const nothing = { events: [], start: before.id, end: before, purged: 0n, hasUnpublished: true };
      expect(await list()).toEqual(nothing);
      expect(await feed.publish(2)).toBe(2);
      expect(await list()).toMatchObject({ end: { position: start + 2n }, hasUnpublished: true });
      expect(await feed.publish(2)).toBe(1);
      expect(await feed.publish(2)).toBe(0);
      const { events, end, hasUnpublished } = await list();
      expect([end, hasUnpublished]).toEqual([{ position: start + 3n, id: events[2]?.id }, false]);
      expect(events.map(({ position }) => position)).toEqual([start + 1n, start + 2n, start + 3n]);
      expect(events.map(({ data }) => data)).toEqual(animals.map((animal) => publishedData(added(animal))));
      for (const { id } of events) expect(/^evt_[0-9a-f]{32}$/.test(id)).toBe(true);
      expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    });

    it('gives each event a greater sequence than all before, and none below the milliseconds when it was stored', async () => {
      // So many that their sequences are ahead of the time when the next one is published.
      await atOnce(MOST, () => add());
      await publishAll();
      await add();
      await publishAll();
      const { events } = await list({ limit: 1_000 });
      const sequences = events.map(({ sequence }) => sequence);
      const next = sequences.map((sequence) => sequence + 1);
      expect(sequences).toHaveLength(MOST + 1);
      expect(sequences[1]).toBe(next[0]);
      expect(sequences.slice(1).every((sequence, place) => sequence >= (next[place] ?? 0))).toBe(true);
      expect(events.every(({ sequence, createdAt }) => sequence >= createdAt)).toBe(true);
    });

    it('publishes and lists as many as are asked for, also if that is more than a page', async () => {
      await atOnce(MOST, () => add());
      expect(await feed.publish(MOST)).toBe(MOST);
      expect((await list({ limit: MOST })).events).toHaveLength(MOST);
    });

    it('lets callers publish one after another, each the next events', async () => {
      await atOnce(MOST, () => add());
      const counts = await atOnce(4, () => feed.publish(30));
      expect(counts.sort((one, next) => one - next)).toEqual([11, 30, 30, 30]);
    });

    it('says where it ends and publishes nothing, so what waits to be published comes behind that', async () => {
      await Promise.all([add(), add()]);
      expect(await feed.end()).toMatchObject({ position: start });
      expect(await list()).toMatchObject({ events: [], hasUnpublished: true });
      const [, last] = await published();
      const end = { position: last?.position, id: last?.id };
      expect([await feed.end(), (await list({ limit: 1 })).end]).toEqual([end, end]);
    });

    it('says which event is at the place where a page begins, also if that was purged last, and of no other place', async () => {
      await Promise.all([add(), add(), add()]);
      const events = await published();
      const idAt = async (position: bigint) => (await list({ after: position as EventPosition })).start;
      for (const { position, id } of events) expect(await idAt(position)).toBe(id);
      const end = await feed.end();
      expect(await idAt(end.position + 1n)).toBeUndefined();
      await feed.purge(later(events[2]?.createdAt ?? NOON, DAY));
      expect([await idAt(end.position), await feed.end()]).toEqual([end.id, end]);
      expect(await idAt(end.position - 1n)).toBeUndefined();
    });

    it('lists by type and behind a position, ascending and no more than asked for', async () => {
      for (const owner of [account, other]) {
        await place((await add()).id, owner);
        await ports.messages.markSent((await queue(owner)).id);
      }
      const all = await published();
      const ofOther = ['pet.added', 'pet.changed'];
      const own = ['pet.added', 'order.placed', 'pet.changed', 'message.sent'];
      expect(all.map(({ type }) => type)).toEqual([...own, ...ofOther]);
      const some: readonly EventType[] = ['order.placed', 'message.sent', 'order.placed'];
      for (const types of [some, ['order.expired' as const], EVENT_TYPES])
        for (const after of [start, ...all.map(({ position }) => position)])
          for (const limit of [1, 2, 100]) {
            const query = { types, after, limit };
            const matching = all.filter(({ type, position }) => types.includes(type) && position > after);
            expect({ query, events: (await list(query)).events }).toEqual({ query, events: matching.slice(0, limit) });
          }
    });

    it('knows since when the oldest event waits that isn’t published', async () => {
      expect(await feed.oldestUnpublished()).toBeUndefined();
      await add();
      const since = await feed.oldestUnpublished();
      await opened.letPass(DAY);
      await add();
      expect(await feed.oldestUnpublished()).toBe(since);
      const [first] = await published();
      expect(first?.createdAt).toBe(since);
      expect(await feed.oldestUnpublished()).toBeUndefined();
    });

    it('shows each event once to each of several readers, whoever writes and publishes meanwhile', async () => {
      let writing = 3;
      const ids: bigint[] = [];
      const write = async () => {
        for (let turn = 0; turn < 5; turn += 1)
          await transact(async (transaction) => {
            ids.push((await add('Luna', transaction)).id, (await add('Milo', transaction)).id);
          });
        writing -= 1;
      };
      const read = async () => {
        const seen: string[] = [];
        for (let after = start; ;) {
          const isOver = writing === 0;
          await feed.publish(7);
          const { events, end, hasUnpublished } = await list({ after, limit: 5 });
          seen.push(...events.map(({ data }) => data.slice(0, data.indexOf(','))));
          const last = events.length === 5 ? events.at(-1) : undefined;
          if (isOver && last === undefined && !hasUnpublished) return seen;
          after = last?.position ?? end.position;
        }
      };
      const reading = atOnce(2, read);
      await atOnce(writing, write);
      for (const seen of await reading) expect(seen.sort()).toEqual(ids.map((id) => `{"id":${id}`).sort());
    });

    it('deletes the oldest up to an instant, says up to where, and keeps what was stored later', async () => {
      await add('first');
      await publishAll();
      await opened.letPass(DAY);
      const luna = await add();
      const [event] = (await published()).slice(-1);
      const { position, createdAt } = present(event);
      const { purged, end } = await list();
      expect(await feed.purge(instant(0))).toBe(0);
      expect(await feed.purge(later(createdAt, -9 * DAY))).toBe(0);
      expect(await feed.purge(later(createdAt, -1))).toBe(Number(position - 1n - purged));
      const left = await list({ after: undefined, limit: 1_000 });
      expect(left).toMatchObject({ end, purged: position - 1n });
      expect(shown(left.events)).toEqual(asStored(added(luna)));
      expect(await feed.purge(createdAt)).toBe(1);
      expect(await list({ after: undefined })).toMatchObject({ events: [], end, purged: position });
    });

    it('goes on behind what was purged, with what waits meanwhile, however old that is', async () => {
      await add();
      const [event] = await published();
      const luna = await add();
      await feed.purge(later(present(event).createdAt, 2 * DAY));
      await publishAll();
      const { events, purged } = await list({ after: undefined });
      expect(shown(events)).toEqual(asStored(added(luna)));
      expect(events[0]?.position).toBe(purged + 1n);
    });

    it('publishes for a caller that doesn’t wait, too, as long as nobody else publishes', async () => {
      await add();
      expect(await feed.publish(10, 0)).toBe(1);
    });
  });
}
