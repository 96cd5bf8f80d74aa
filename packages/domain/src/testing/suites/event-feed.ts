import type { Account, AccountId } from '../../accounts/account.js';
import { type Animal, type AnimalId, decideChange, decideWithdrawal, newAnimal } from '../../animals/animal.js';
import {
  EVENT_TYPES,
  type EventPosition,
  type EventType,
  isForAll,
  publishedData,
  type PublishedEvent,
  type StoreEvent,
} from '../../events/event.js';
import type { EventFeed } from '../../events/event-feed.js';
import { DAY, instant, later, MINUTE } from '../../kernel/clock.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { Message, MessageId } from '../../messages/message.js';
import { decideRetry } from '../../messages/message.js';
import { decideEnd, decideExpiry, decidePlacement, type Order } from '../../orders/order.js';
import { addMessage, atOnce, claimOne, NOON, openBefore, stateOf, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';
import { INTEGERS, TEXTS } from './samples.js';

type Needed = 'accounts' | 'animalImporter' | 'animals' | 'events' | 'idempotency' | 'messages' | 'orders';

/** The guarantees of every `EventFeed`, and of the ports whose changes have events. */
export function eventFeedSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeEach, expect } = framework;
  describe(`an event feed (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let feed: EventFeed;
    let account: Account;
    let other: Account;
    /** The end of the feed when the test began. */
    let start: EventPosition;
    openBefore(framework, open, async (opened) => {
      ports = opened.ports;
      feed = ports.events;
      [account, other] = [await ports.accounts.open(unique.account()), await ports.accounts.open(unique.account())];
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
    const published = async (accountId: AccountId = account.id) => {
      await publishAll();
      return (await list({ accountId })).events;
    };
    const shown = (events: readonly PublishedEvent[]) => events.map(({ type, data }) => ({ type, data }));
    /** Expects exactly these events since the test began. */
    const expectEvents = async (...events: readonly StoreEvent[]) => {
      const expected = events.map((event) => ({ type: event.type, data: publishedData(event) }));
      expect(shown(await published())).toEqual(expected);
    };

    const add = (animal = 'Luna', transaction?: Transaction) =>
      ports.animals.add(newAnimal({ name: animal, categoryId: 1n }), transaction);
    const added = (data: Animal): StoreEvent => ({ type: 'pet.added', data });
    const changed = (data: Animal): StoreEvent => ({ type: 'pet.changed', data });
    const sent = (message: Message): StoreEvent => ({ type: 'message.sent', data: { ...message, status: 'sent' } });
    const place = (animalId: AnimalId, by = account, transaction?: Transaction) => {
      const placement = { accountId: by.id, animalId, limit: Infinity };
      return ports.orders.place(placement, (state) => decidePlacement(state, placement, NOON), transaction);
    };
    const queue = (by = account): Promise<Message> =>
      addMessage(ports, { id: unique.name() as MessageId, accountId: by.id, text: 'Hello\n"you"', createdAt: NOON });
    /** A request that makes changes in one transaction. */
    const request = () => {
      const times = { now: NOON, expiredUntil: later(NOON, -DAY) };
      return { accountId: account.id, key: unique.name(), fingerprint: 'asked', ...times };
    };
    const twice = async (work: () => Promise<unknown>) => {
      await work();
      await work();
    };

    describe('has', () => {
      it('the addition of each animal, however many are added at once', async () => {
        const animals = await atOnce(40, (index) => add(`racer ${index}`));
        const data = (await published()).map((event) => event.data);
        expect(data.sort()).toEqual(animals.map((animal) => publishedData(added(animal))).sort());
      });

      it('the animal exactly as it is stored, whatever its name and category', async () => {
        const events: StoreEvent[] = [];
        for (const text of TEXTS) events.push(added(await add(text)));
        for (const categoryId of INTEGERS)
          events.push(added(await ports.animals.add(newAnimal({ name: 'Luna', categoryId }))));
        await expectEvents(...events);
      });

      it('the change and the withdrawal of an animal, and nothing of a change that changes nothing or is refused', async () => {
        const luna = await add();
        const edit = { id: luna.id, change: { name: 'Milo' } };
        await twice(() => ports.animals.change(luna.id, (state) => decideChange(state, edit)));
        await stateOf((refuse) => ports.animals.change(luna.id, refuse));
        await stateOf((refuse) => ports.animals.withdraw(luna.id, NOON, refuse));
        await ports.animals.withdraw(luna.id, NOON, (state) => decideWithdrawal(state, edit));
        const milo = { ...luna, name: 'Milo' };
        await expectEvents(added(luna), changed(milo), { type: 'pet.removed', data: milo });
      });

      it('each animal of an import, and nothing of one that isn’t stored', async () => {
        const luna = await add();
        const animal = newAnimal({ name: 'imported', categoryId: 1n });
        async function* parts() {
          yield [(luna.id + 7n) as AnimalId, undefined, undefined].map((id) => ({ line: 1, id, animal }));
        }
        const importAll = (isWanted: boolean) => ports.animalImporter.importAll(parts(), () => isWanted);
        await importAll(false);
        await importAll(true);
        expect((await importAll(true)).refused.count).toBe(1);
        const stored = await ports.animals.list({ after: luna.id, limit: 10 });
        expect(stored).toHaveLength(3);
        await expectEvents(...[luna, ...stored].map(added));
      });

      it('the placement and each end of an order, with what becomes of its animal, for its account alone, whoever ends it', async () => {
        const luna = await add();
        const expected = [added(luna)];
        for (const [outcome, status, by] of [
          ['cancelled', 'available', account.id],
          ['expired', 'available', account.id],
          ['cancelled', 'available', 'operator'],
          ['completed', 'sold', 'operator'],
        ] as const) {
          const order = await place(luna.id);
          await expect(place(luna.id)).rejects.toMatchObject({ code: 'pet_not_available' });
          const end = { by, id: order.id, outcome };
          const due = { placedUntil: NOON, limit: 100 };
          const [ended = order] =
            outcome === 'expired'
              ? await ports.orders.expire(due, (state) => decideExpiry(state, 0, NOON))
              : [await ports.orders.change(order.id, (state) => decideEnd(state, end, later(NOON, MINUTE)))];
          expected.push({ type: 'order.placed', data: order }, changed({ ...luna, status: 'pending' }));
          expected.push({ type: `order.${outcome}`, data: ended }, changed({ ...luna, status }));
        }
        await expectEvents(...expected);
        const ofAnimals = expected.map(({ type }) => type).filter(isForAll);
        expect((await published(other.id)).map(({ type }) => type)).toEqual(ofAnimals);
      });

      it('the delivery of a message once, and each failure, for its account alone', async () => {
        const good = await queue();
        await twice(() => ports.messages.markSent(good.id));
        const failing = await queue();
        const first = await claimOne(ports.messages);
        await twice(() => ports.messages.markFailed(first));
        await ports.messages.retry(failing.id, (state) => decideRetry(state, failing));
        await ports.messages.markFailed(first);
        await ports.messages.markFailed(await claimOne(ports.messages));
        await ports.messages.markSent(failing.id);
        const failed: StoreEvent = { type: 'message.failed', data: { ...failing, status: 'failed' } };
        await expectEvents(sent(good), failed, failed, sent(failing));
        expect(await published(other.id)).toEqual([]);
      });

      it('what the transaction has done once it is stored, and nothing if it failed', async () => {
        const [luna, milo] = [await add(), await add('Milo')];
        const failing = ports.idempotency.once(request(), async (transaction) => {
          await add('Nala', transaction);
          await place(luna.id, account, transaction);
          throw new Error('the work failed');
        });
        await expect(failing).rejects.toThrow('the work failed');
        const orders: Order[] = [];
        await ports.idempotency.once(request(), async (transaction) => {
          orders.push(await place(milo.id, account, transaction));
          return 'done';
        });
        const placed = orders.map((data): StoreEvent => ({ type: 'order.placed', data }));
        await expectEvents(...[luna, milo].map(added), ...placed, changed({ ...milo, status: 'pending' }));
      });
    });

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
      for (let turn = 0; turn < 2; turn += 1) {
        await Promise.all([add(), add(), add()]);
        await publishAll();
      }
      const sequences = (await list()).events.map(({ sequence }) => sequence);
      const next = sequences.map((sequence) => sequence + 1);
      expect(sequences).toHaveLength(6);
      expect(sequences[1]).toBe(next[0]);
      expect(sequences.slice(1).every((sequence, place) => sequence >= (next[place] ?? 0))).toBe(true);
      expect((await list()).events.every(({ sequence, createdAt }) => sequence >= createdAt)).toBe(true);
    });

    it('says where it ends and publishes nothing, so what waits to be published comes behind that', async () => {
      await add();
      expect(await feed.end()).toMatchObject({ position: start });
      expect(await list()).toMatchObject({ events: [], hasUnpublished: true });
      const [event] = await published();
      expect(await feed.end()).toEqual({ position: event?.position, id: event?.id });
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
      const some: readonly EventType[] = ['message.sent', 'order.placed', 'message.sent'];
      for (const types of [some, ['order.expired' as const], EVENT_TYPES])
        for (const after of [start, ...all.map(({ position }) => position)])
          for (const limit of [1, 2, 100]) {
            const matching = all.filter(({ type, position }) => types.includes(type) && position > after);
            expect((await list({ types, after, limit })).events).toEqual(matching.slice(0, limit));
          }
    });

    it('knows since when the oldest event waits that isn’t published', async () => {
      expect(await feed.oldestUnpublished()).toBeUndefined();
      await add();
      const since = await feed.oldestUnpublished();
      await add();
      expect(await feed.oldestUnpublished()).toBe(since);
      const [first] = await published();
      expect(first?.createdAt).toBe(since);
      expect(await feed.oldestUnpublished()).toBeUndefined();
    });

    it('shows each event once to each of several readers, whoever writes and publishes meanwhile', async () => {
      let writing = 8;
      const ids: bigint[] = [];
      const write = async () => {
        for (let turn = 0; turn < 10; turn += 1) {
          await ports.idempotency.once(request(), async (transaction) => {
            ids.push((await add('Luna', transaction)).id, (await add('Milo', transaction)).id);
            return 'done';
          });
        }
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
      const reading = atOnce(3, read);
      await atOnce(writing, write);
      for (const seen of await reading) expect(seen.sort()).toEqual(ids.map((id) => `{"id":${id}`).sort());
    });

    it('deletes the oldest up to an instant, and says up to where', async () => {
      await add();
      const [first] = await published();
      const at = first?.createdAt ?? NOON;
      expect(await feed.purge(instant(0))).toBe(0);
      expect(await feed.purge(later(at, -DAY))).toBe(0);
      const { purged, end } = await list();
      expect(await feed.purge(later(at, DAY))).toBe(Number(end.position - purged));
      expect(await list({ after: undefined })).toMatchObject({ events: [], end, purged: end.position });
      const luna = await add();
      await publishAll();
      const [event, ...more] = (await list({ after: undefined })).events;
      expect([event?.data, more]).toEqual([publishedData(added(luna)), []]);
    });
  });
}
