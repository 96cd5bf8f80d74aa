import type { AccountId } from '../../accounts/account.js';
import { type AnimalId, decideChange, decideWithdrawal } from '../../animals/animal.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import type { DomainError } from '../../kernel/errors.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { type EndState, type Order, ORDER_STATUSES, type OrderId, type PlacementState } from '../../orders/order.js';
import type { OrderRepository } from '../../orders/order-repository.js';
import { atOnce, NOON, outcomes, REFUSAL, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';
import { idsOf, type OrderPorts, OrderStore, OUTCOMES } from './order-store.js';

const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

/** The guarantees of every `OrderRepository`. */
export function orderRepositorySuite(framework: TestFramework, name: string, open: Open<OrderPorts>): void {
  const { describe, it, beforeAll, beforeEach, afterAll, afterEach, expect } = framework;
  describe(`an order repository (${name})`, () => {
    const unique = new Unique();
    let opened: Opened<OrderPorts>;
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

    const statesOf = <State, Result>(states: State[], decide: (state: State) => Result) => {
      return (state: State): Result => {
        states.push(state);
        return decide(state);
      };
    };
    const refuse = (): never => {
      throw REFUSAL;
    };

    it('hands to a placement a new id, the animal, whether it has a live order, and how many the account has placed', async () => {
      const states: PlacementState[] = [];
      const look = async (accountId: AccountId, animalId: AnimalId) => {
        await expect(orders.place({ accountId, animalId }, statesOf(states, refuse))).rejects.toBe(REFUSAL);
        const { id, ...state } = states.at(-1) ?? { id: undefined };
        expect(typeof id).toBe('bigint');
        return state;
      };
      const { accountId, other } = store;
      const [one, two] = [await store.placed(), await store.placed(NOON, other)];
      const free = await store.animal(await store.addAnimal());
      expect(await look(accountId, free.id)).toEqual({ animal: free, hasLiveOrder: false, placedOrders: 1 });
      const pending = await store.animal(one.animalId);
      expect(await look(other, pending.id)).toEqual({ animal: pending, hasLiveOrder: true, placedOrders: 1 });
      await store.end(one.id, 'completed');
      const sold = { ...pending, status: 'sold' };
      expect(await look(accountId, one.animalId)).toEqual({ animal: sold, hasLiveOrder: true, placedOrders: 0 });
      await store.expire(NOON);
      const released = await store.animal(two.animalId);
      expect(await look(other, two.animalId)).toEqual({ animal: released, hasLiveOrder: false, placedOrders: 0 });
      const unknown = { animal: undefined, hasLiveOrder: false, placedOrders: 0 };
      expect(await look(accountId, INT64_MAX as AnimalId)).toEqual(unknown);
      expect(await orders.list({ accountId, status: 'placed', limit: 1 })).toEqual([]);
    });

    it('stores the placed order under its new id, with its animal, and returns it', async () => {
      const [animalId, bystander] = [await store.addAnimal(), await store.addAnimal()];
      const order = await store.place(animalId);
      const at = { createdAt: NOON, updatedAt: NOON };
      expect(order).toEqual({ id: order.id, accountId: store.accountId, animalId, status: 'placed', ...at });
      expect(typeof order.id).toBe('bigint');
      expect(await store.find(order.id)).toEqual(order);
      expect(await store.statusOf(animalId)).toBe('pending');
      expect(await store.statusOf(bystander)).toBe('available');
      expect((await store.place(bystander)).id).not.toBe(order.id);
    });

    it('hands to a change the order and its animal, or says what isn’t there, and changes nothing if it refuses', async () => {
      const [order, withdrawn] = [await store.placed(NOON, store.other), await store.placed()];
      const cancelled = await store.end(withdrawn.id, 'cancelled');
      await store.withdraw(cancelled.animalId);
      const animal = await store.animal(order.animalId);
      const states: EndState[] = [];
      for (const id of [order.id, cancelled.id, INT64_MAX as OrderId, -1n as OrderId]) {
        await expect(orders.change(id, statesOf(states, refuse))).rejects.toBe(REFUSAL);
      }
      const nothing = { order: undefined, animal: undefined };
      expect(states).toEqual([{ order, animal }, { order: cancelled, animal: undefined }, nothing, nothing]);
      expect(await store.find(order.id, store.other)).toEqual(order);
      expect(await store.animal(order.animalId)).toEqual(animal);
    });

    for (const outcome of OUTCOMES)
      it(`stores an order that is ${outcome}, with its animal, and returns it`, async () => {
        const [order, bystander] = [await store.placed(), await store.placed()];
        const at = later(NOON, 5 * MINUTE);
        const ended = { ...order, status: outcome, updatedAt: at };
        expect(await store.end(order.id, outcome, at)).toEqual(ended);
        expect(await store.find(order.id)).toEqual(ended);
        expect(await store.statusOf(order.animalId)).toBe(outcome === 'completed' ? 'sold' : 'available');
        expect(await store.find(bystander.id)).toEqual(bystander);
        expect(await store.statusOf(bystander.animalId)).toBe('pending');
      });

    it('hides another account’s order', async () => {
      const order = await store.placed();
      expect(await store.find(order.id, store.other)).toBeUndefined();
      expect(await orders.list({ accountId: store.other, limit: 10 })).toEqual([]);
      for (const id of [INT64_MAX, -1n]) expect(await store.find(id as OrderId)).toBeUndefined();
    });

    it('lists an account’s orders by status and after an id, ascending and no more than asked for', async () => {
      const all: Order[] = [];
      for (let index = 0; index < 12; index++) {
        const order = await store.placed(later(NOON, -index * MINUTE));
        await store.placed(NOON, store.other);
        const status = ORDER_STATUSES[index % 4] ?? 'placed';
        all.push(status === 'placed' ? order : await store.end(order.id, status));
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

      it('leaves an order that the decision leaves, and all if it refuses', async () => {
        const order = await store.placed();
        const states: EndState[] = [];
        const due = { placedUntil: NOON, limit: 10 };
        expect(
          await orders.expire(
            due,
            statesOf(states, () => undefined),
          ),
        ).toEqual([]);
        expect(states).toEqual([{ order, animal: await store.animal(order.animalId) }]);
        await expect(orders.expire(due, refuse)).rejects.toBe(REFUSAL);
        expect(await store.find(order.id)).toEqual(order);
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

    describe('under a race', () => {
      it('counts the orders of an account one after another, however many it places at once', async () => {
        const animals = await atOnce(20, () => store.addAnimal());
        const racers = animals.map((animalId) => store.place(animalId, NOON, store.accountId, 7));
        const { reasons: refused } = outcomes(await Promise.allSettled(racers));
        expect(refused).toHaveLength(13);
        for (const each of refused) expect(each).toMatchObject({ code: 'too_many_orders' });
        expect(await orders.list({ accountId: store.accountId, status: 'placed', limit: 100 })).toHaveLength(7);
        const statuses = await Promise.all(animals.map((id) => store.statusOf(id)));
        expect(statuses.filter((status) => status === 'available')).toHaveLength(13);
      });

      it('places one of 50 concurrent orders for one animal, in every round', async () => {
        for (let round = 0; round < 5; round++) {
          const animalId = await store.addAnimal();
          const racers = Array.from({ length: 50 }, (_, index) =>
            store.place(animalId, NOON, index % 2 ? store.accountId : store.other),
          );
          const { values, reasons } = outcomes(await Promise.allSettled(racers));
          expect(values.map((order) => order.animalId)).toEqual([animalId]);
          for (const reason of reasons) expect(reason).toMatchObject({ code: 'pet_not_available' });
          expect(await store.statusOf(animalId)).toBe('pending');
        }
      });

      it('ends an order once, and the animal’s status matches', async () => {
        for (let round = 0; round < 15; round++) {
          const { id, animalId } = await store.placed();
          const racers = [
            ...Array.from({ length: 9 }, (_, index) => store.end(id, OUTCOMES[(index + round) % 3] ?? 'expired')),
            store.expire(NOON).then(([order]) => order ?? refuse()),
          ];
          const [won, ...more] = outcomes(await Promise.allSettled(racers)).values;
          expect([won?.id, more]).toEqual([id, []]);
          expect(await store.find(id)).toEqual(won);
          expect(await store.statusOf(animalId)).toBe(won?.status === 'completed' ? 'sold' : 'available');
        }
      });

      it('ends an order, orders its animal again, edits and withdraws it as if one did after another', async () => {
        const { animals } = opened.ports;
        for (let round = 0; round < 20; round++) {
          const { id, animalId } = await store.placed();
          const edit = { id: animalId, change: { name: 'Milo' } };
          const done = { isPlaced: false, isWithdrawn: false };
          const racers = [
            () => store.end(id, 'cancelled'),
            () => animals.change(animalId, (state) => decideChange(state, edit)),
            () => store.place(animalId, NOON, store.other).then(() => (done.isPlaced = true)),
            async () => {
              await animals.withdraw(animalId, NOON, (state) => decideWithdrawal(state, edit));
              done.isWithdrawn = true;
            },
          ];
          const settled = await Promise.allSettled(racers.map(async (_, index) => racers[(index + round) % 4]?.()));
          for (const reason of outcomes<unknown>(settled).reasons)
            expect(['not_found', 'order_in_progress', 'pet_not_available']).toContain((reason as DomainError).code);
          expect(await store.find(id)).toMatchObject({ status: 'cancelled' });
          expect(done.isPlaced && done.isWithdrawn).toBe(false);
          const status = done.isPlaced ? 'pending' : 'available';
          const left = done.isWithdrawn ? undefined : { id: animalId, name: 'Milo', categoryId: 1n, status };
          expect(await animals.findById(animalId)).toEqual(left);
        }
      });
    });
  });
}
