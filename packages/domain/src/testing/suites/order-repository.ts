import { type AnimalId, PET_STATUSES } from '../../animals/animal.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { type Order, ORDER_STATUSES, type OrderId, type OrderOutcome } from '../../orders/order.js';
import type { OrderRepository } from '../../orders/order-repository.js';
import { atOnce, NOON, outcomes, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';
import { orderHistories } from './order-histories.js';
import { idsOf, isOrder, type OrderPorts, OrderStore, OUTCOMES, petStatusAfter } from './order-store.js';

const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

/** The guarantees of every `OrderRepository`. */
export function orderRepositorySuite(
  framework: TestFramework,
  name: string,
  open: Open<OrderPorts | 'cryptography'>,
): void {
  const { describe, it, beforeAll, beforeEach, afterAll, afterEach, expect } = framework;
  describe(`an order repository (${name})`, () => {
    const unique = new Unique();
    let opened: Opened<OrderPorts | 'cryptography'>;
    let orders: OrderRepository;
    let store: OrderStore;
    beforeAll(async () => {
      opened = await open();
      orders = opened.ports.orders;
    });
    beforeEach(async () => {
      store = await OrderStore.open(opened.ports, unique);
    });
    afterEach(() => store.clear());
    afterAll(() => opened.close());

    it('returns the placed order under a new id, and reserves the animal', async () => {
      const [animalId, bystander] = [await store.addAnimal(), await store.addAnimal()];
      const order = await store.place(animalId);
      expect(order).toEqual({
        id: order?.id,
        accountId: store.accountId,
        animalId,
        status: 'placed',
        createdAt: NOON,
        updatedAt: NOON,
      });
      expect(typeof order?.id).toBe('bigint');
      expect(await store.find(order?.id ?? (0n as OrderId))).toEqual(order);
      expect(await store.statusOf(animalId)).toBe('pending');
      expect(await store.statusOf(bystander)).toBe('available');
      expect((await store.place(bystander))?.id).not.toBe(order?.id);
    });

    for (const status of PET_STATUSES.filter((each) => each !== 'available'))
      it(`places no order for an animal that is ${status}, and changes nothing`, async () => {
        const animalId = await store.addAnimal(status);
        expect(await store.place(animalId)).toBeUndefined();
        expect(await store.statusOf(animalId)).toBe(status);
        expect(await orders.list({ accountId: store.accountId, limit: 1 })).toEqual([]);
      });

    it('places no order for an unknown animal, and finds and ends no unknown order', async () => {
      for (const id of [INT64_MAX, -1n]) {
        expect(await store.place(id as AnimalId)).toBeUndefined();
        expect(await store.find(id as OrderId)).toBeUndefined();
        expect(await store.end(id as OrderId, 'cancelled')).toBeUndefined();
      }
      expect(await orders.list({ accountId: store.accountId, limit: 1 })).toEqual([]);
    });

    for (const outcome of OUTCOMES)
      it(`ends an order as ${outcome}, and its animal changes with it`, async () => {
        const [order, bystander] = [await store.placed(), await store.placed()];
        const at = later(NOON, 5 * MINUTE);
        const ended = { ...order, status: outcome, updatedAt: at };
        expect(await store.end(order.id, outcome, at)).toEqual(ended);
        expect(await store.find(order.id)).toEqual(ended);
        expect(await store.statusOf(order.animalId)).toBe(petStatusAfter[outcome]);
        expect(await store.find(bystander.id)).toEqual(bystander);
        expect(await store.statusOf(bystander.animalId)).toBe('pending');
      });

    for (const outcome of OUTCOMES)
      it(`ends no order that has been ${outcome} already, and changes nothing`, async () => {
        const { id, animalId } = await store.placed();
        const ended = await store.end(id, outcome);
        for (const again of OUTCOMES) expect(await store.end(id, again, later(NOON, HOUR))).toBeUndefined();
        expect(await store.expire(later(NOON, HOUR))).toEqual([]);
        expect(await store.find(id)).toEqual(ended);
        expect(await store.statusOf(animalId)).toBe(petStatusAfter[outcome]);
      });

    it('hides another account’s order, and never changes it', async () => {
      const order = await store.placed();
      expect(await store.find(order.id, store.other)).toBeUndefined();
      expect(await orders.list({ accountId: store.other, limit: 10 })).toEqual([]);
      for (const outcome of OUTCOMES) expect(await store.end(order.id, outcome, NOON, store.other)).toBeUndefined();
      expect(await store.place(order.animalId, NOON, store.other)).toBeUndefined();
      expect(await store.find(order.id)).toEqual(order);
      expect(await store.statusOf(order.animalId)).toBe('pending');
    });

    it('lists an account’s orders by status and after an id, ascending and no more than asked for', async () => {
      const all: Order[] = [];
      for (let index = 0; index < 12; index++) {
        const order = await store.placed(later(NOON, -index * MINUTE));
        await store.placed(NOON, store.other);
        const status = ORDER_STATUSES[index % 4] ?? 'placed';
        all.push(status === 'placed' ? order : ((await store.end(order.id, status)) ?? order));
      }
      const [first, second] = idsOf(all);
      expect(await orders.list({ accountId: store.accountId, limit: 100 })).toEqual(all);
      expect(await orders.list({ accountId: store.accountId, limit: 5 })).toEqual(all.slice(0, 5));
      expect(await orders.list({ accountId: store.accountId, after: second, limit: 5 })).toEqual(all.slice(2, 7));
      expect(await orders.list({ accountId: store.accountId, after: all.at(-1)?.id, limit: 5 })).toEqual([]);
      expect(await orders.list({ accountId: store.accountId, before: all[6]?.id, limit: 5 })).toEqual(all.slice(1, 6));
      expect(await orders.list({ accountId: store.accountId, before: first, limit: 5 })).toEqual([]);
      for (const status of ORDER_STATUSES) {
        const matching = all.filter((order) => order.status === status);
        const before = matching.at(-1)?.id;
        expect(await orders.list({ accountId: store.accountId, status, before, limit: 1 })).toEqual([matching.at(-2)]);
        expect(await orders.list({ accountId: store.accountId, status, limit: 100 })).toEqual(matching);
        expect(await orders.list({ accountId: store.accountId, status, limit: 2 })).toEqual(matching.slice(0, 2));
      }
      expect(await orders.list({ accountId: store.accountId, status: 'placed', after: first, limit: 1 })).toEqual([
        all[4],
      ]);
    });

    describe('expiry', () => {
      it('expires orders placed at or before that instant, of any account, and no later ones', async () => {
        const due = [
          await store.placed(later(NOON, -HOUR)),
          await store.placed(NOON),
          await store.placed(NOON, store.other),
        ];
        const young = await store.placed(later(NOON, 1));
        const at = later(NOON, HOUR);
        const expired = await store.expire(NOON, 100, at);
        expect([...expired].sort((one, another) => (one.id < another.id ? -1 : 1))).toEqual(
          due.map((order) => ({ ...order, status: 'expired', updatedAt: at })),
        );
        for (const order of expired) {
          expect(await store.find(order.id, order.accountId)).toEqual(order);
          expect(await store.statusOf(order.animalId)).toBe('available');
        }
        expect(await store.find(young.id)).toEqual(young);
        expect(await store.statusOf(young.animalId)).toBe('pending');
        expect(await store.expire(NOON)).toEqual([]);
      });

      it('expires the oldest first, and no more than asked for', async () => {
        const due: Order[] = [];
        for (let index = 0; index < 5; index++) due.push(await store.placed(later(NOON, index * MINUTE)));
        expect(sortedIdsOf(await store.expire(later(NOON, HOUR), 2))).toEqual(idsOf(due.slice(0, 2)));
        expect(sortedIdsOf(await store.expire(later(NOON, HOUR), 2))).toEqual(idsOf(due.slice(2, 4)));
        expect(sortedIdsOf(await store.expire(later(NOON, HOUR), 2))).toEqual(idsOf(due.slice(4)));
      });

      it('is shared by concurrent workers: every order expires, each once', async () => {
        const due = await atOnce(40, () => store.placed());
        const expired = await atOnce(8, () => store.expire(NOON, 10));
        for (const some of expired) expect(some.length).toBeLessThanOrEqual(10);
        const left = await store.expire(NOON);
        expect(sortedIdsOf([...expired.flat(), ...left])).toEqual(sortedIdsOf(due));
      });
    });

    describe('a limit of orders placed at a time', () => {
      const placeAtMost = (animalId: AnimalId, mostPlaced: number, by = store.accountId) =>
        orders.place({ accountId: by, animalId, createdAt: NOON }, mostPlaced);

      it('admits exactly that many of concurrent orders for different animals, and reserves no other animal', async () => {
        const animals = await atOnce(20, () => store.addAnimal());
        const racers = await Promise.allSettled(animals.map((animalId) => placeAtMost(animalId, 7)));
        const { reasons: refused } = outcomes(racers);
        expect(refused).toHaveLength(13);
        for (const each of refused) expect(each).toMatchObject({ code: 'too_many_orders', kind: 'conflict' });
        expect(await orders.list({ accountId: store.accountId, status: 'placed', limit: 100 })).toHaveLength(7);
        const statuses = await Promise.all(animals.map((id) => store.statusOf(id)));
        expect(statuses.filter((status) => status === 'available')).toHaveLength(13);
      });

      for (const outcome of OUTCOMES)
        it(`has room again once an order is ${outcome}`, async () => {
          const { id } = await store.placed();
          const animalId = await store.addAnimal();
          await expect(placeAtMost(animalId, 1)).rejects.toMatchObject({ code: 'too_many_orders' });
          await store.end(id, outcome);
          expect(await placeAtMost(animalId, 1)).toMatchObject({ animalId });
        });

      it('is each account’s own', async () => {
        await store.placed();
        expect(await placeAtMost(await store.addAnimal(), 1, store.other)).toMatchObject({ accountId: store.other });
      });
    });

    describe('under a race', () => {
      it('places one of 50 concurrent orders for one animal, in every round', async () => {
        for (let round = 0; round < 5; round++) {
          const animalId = await store.addAnimal();
          const racers = await atOnce(50, (index) =>
            store.place(animalId, NOON, index % 2 ? store.accountId : store.other),
          );
          const [won, ...more] = racers.filter(isOrder);
          expect([won?.animalId, more]).toEqual([animalId, []]);
          expect(await store.statusOf(animalId)).toBe('pending');
        }
      });

      it('ends an order once, and the animal’s status matches', async () => {
        for (let round = 0; round < 15; round++) {
          const { id, animalId } = await store.placed();
          const racers = await Promise.all([
            ...[0, 1, 2].flatMap((turn) =>
              OUTCOMES.map((_, index) => store.end(id, OUTCOMES[(index + turn + round) % 3] ?? 'expired')),
            ),
            store.expire(NOON).then(([order]) => order),
          ]);
          const [won, ...more] = racers.filter(isOrder);
          expect([won?.id, more]).toEqual([id, []]);
          expect(await store.find(id)).toEqual(won);
          expect(await store.statusOf(animalId)).toBe(petStatusAfter[won?.status as OrderOutcome]);
        }
      });
    });
    orderHistories(framework, () => opened.ports);
  });
}
