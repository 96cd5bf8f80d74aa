import type { AccountId } from '../../accounts/account.js';
import { type AnimalId, decideChange, decideWithdrawal, newAnimal } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import type { DomainError } from '../../kernel/errors.js';
import { INT64_MAX } from '../../kernel/int64.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  type Order,
  ORDER_STATUSES,
  type OrderId,
  type OrderOutcome,
  type PlacementState,
} from '../../orders/order.js';
import type { AllOrdersQuery, OrderQuery, OrderRepository } from '../../orders/order-repository.js';
import { atOnce, eventless, NOON, openBefore, present, race, stateOf, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type OrderPorts = 'accounts' | 'animals' | 'orders';

const OUTCOMES = ORDER_STATUSES.filter((status): status is OrderOutcome => status !== 'placed');

const idsOf = (orders: readonly Order[]): OrderId[] => orders.map(({ id }) => id);
const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

/** The guarantees of every `OrderRepository`. */
export function orderRepositorySuite(framework: TestFramework, name: string, open: Open<OrderPorts>): void {
  const { describe, it, beforeEach, afterEach, expect } = framework;
  describe(`an order repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<OrderPorts>['ports'];
    let orders: OrderRepository;
    let store: OrderStore;
    openBefore(framework, open, (opened) => {
      ports = opened.ports;
      orders = ports.orders;
    });
    beforeEach(async () => {
      store = await openOrderStore(ports, unique);
    });
    afterEach(() => store.clear());

    it('hands to a placement a new id, the animal, whether it has a live order, and how many the account has placed', async () => {
      const look = async (accountId: AccountId, animalId: AnimalId) => {
        const { id, ...state } = await stateOf<PlacementState>((refuse) =>
          orders.place({ accountId, animalId }, refuse),
        );
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
      const look = (id: bigint) => stateOf((refuse) => orders.change(id as OrderId, refuse));
      expect(await look(order.id)).toEqual({ order, animal });
      expect(await look(cancelled.id)).toEqual({ order: cancelled, animal: undefined });
      for (const id of [INT64_MAX, -1n]) expect(await look(id)).toEqual({ order: undefined, animal: undefined });
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
        const status = ORDER_STATUSES[index % ORDER_STATUSES.length] ?? 'placed';
        all.push(status === 'placed' ? order : await store.end(order.id, status));
      }
      const list = (query: Partial<OrderQuery>) => orders.list({ accountId: store.accountId, limit: 100, ...query });
      const [first, second] = idsOf(all);
      expect(await list({})).toEqual(all);
      expect(await list({ limit: 5 })).toEqual(all.slice(0, 5));
      expect(await list({ after: second, limit: 5 })).toEqual(all.slice(2, 7));
      expect(await list({ after: all.at(-1)?.id })).toEqual([]);
      expect(await list({ before: all[6]?.id, limit: 5 })).toEqual(all.slice(1, 6));
      expect(await list({ before: first })).toEqual([]);
      for (const status of ORDER_STATUSES) {
        const matching = all.filter((order) => order.status === status);
        expect(await list({ status })).toEqual(matching);
        expect(await list({ status, limit: 2 })).toEqual(matching.slice(0, 2));
        expect(await list({ status, after: matching[0]?.id, limit: 1 })).toEqual([matching[1]]);
        expect(await list({ status, before: matching[2]?.id, limit: 1 })).toEqual([matching[1]]);
      }
    });

    it('lists the orders of all accounts with their accounts, all or the placed ones, ascending and no more than asked for', async () => {
      const before = await store.placed();
      const [one, other] = [await store.placed(), await store.placed(NOON, store.other)];
      const ended = await store.end((await store.placed()).id, 'cancelled');
      const last = await store.placed(NOON, store.other);
      const list = (query: Partial<AllOrdersQuery>) => orders.listAll({ after: before.id, limit: 100, ...query });
      const found = await list({});
      expect(found.map(({ order }) => order)).toEqual([one, other, ended, last]);
      for (const { account, order } of found) expect(account).toEqual(await ports.accounts.findById(order.accountId));
      expect(await list({ status: 'placed' })).toEqual(found.filter(({ order }) => order.id !== ended.id));
      expect(await list({ status: 'placed', after: other.id })).toEqual(found.slice(-1));
      expect(await list({ limit: 2 })).toEqual(found.slice(0, 2));
      expect((await list({ after: undefined, limit: 1 })).length).toBe(1);
    });

    describe('expiry', () => {
      it('expires orders placed at or before that instant, of any account, and no later ones', async () => {
        const due = [await store.placed(later(NOON, -HOUR)), await store.placed(NOON, store.other)];
        const young = await store.placed(later(NOON, 1));
        const at = later(NOON, HOUR);
        const expired = await store.expire(NOON, 100, at);
        const expected = due.map((order) => ({ ...order, status: 'expired', updatedAt: at }));
        expect(new Set(expired)).toEqual(new Set(expected));
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
        const due = { placedUntil: NOON, limit: 10 };
        expect(await orders.expire(due, () => undefined)).toEqual([]);
        const state = { order, animal: await store.animal(order.animalId) };
        expect(await stateOf((refuse) => orders.expire(due, refuse))).toEqual(state);
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
        const place = (animalId: AnimalId) => store.place(animalId, NOON, store.accountId, 7);
        const { reasons } = await race(20, (index) => place(present(animals[index])));
        expect(reasons).toHaveLength(13);
        for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_orders' });
        expect(await orders.list({ accountId: store.accountId, status: 'placed', limit: 100 })).toHaveLength(7);
        const statuses = await Promise.all(animals.map((id) => store.statusOf(id)));
        expect(statuses.filter((status) => status === 'available')).toHaveLength(13);
      });

      it('places one of 50 concurrent orders for one animal, in every round', async () => {
        for (let round = 0; round < 5; round++) {
          const animalId = await store.addAnimal();
          const { values, reasons } = await race(50, (index) =>
            store.place(animalId, NOON, index % 2 ? store.accountId : store.other),
          );
          expect(values.map((order) => order.animalId)).toEqual([animalId]);
          for (const reason of reasons) expect(reason).toMatchObject({ code: 'pet_not_available' });
          expect(await store.statusOf(animalId)).toBe('pending');
        }
      });

      it('ends an order once, and the animal’s status matches', async () => {
        for (let round = 0; round < 15; round++) {
          const { id, animalId } = await store.placed();
          const expire = async () => present((await store.expire(NOON))[0]);
          const { values } = await race(10, (index) =>
            index === 9 ? expire() : store.end(id, present(OUTCOMES[(index + round) % OUTCOMES.length])),
          );
          const [won, ...more] = values;
          expect([won?.id, more]).toEqual([id, []]);
          expect(await store.find(id)).toEqual(won);
          expect(await store.statusOf(animalId)).toBe(won?.status === 'completed' ? 'sold' : 'available');
        }
      });

      it('ends an order, orders its animal again, edits and withdraws it as if one did after another', async () => {
        const { animals } = ports;
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
          const { reasons } = await race<unknown>(4, (index) => present(racers[(index + round) % 4])());
          for (const reason of reasons)
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

type OrderStore = Awaited<ReturnType<typeof openOrderStore>>;

/** Two accounts of a store, and their orders. */
async function openOrderStore({ accounts, animals, orders }: Pick<Ports, OrderPorts>, unique: Unique) {
  const { id: accountId } = await accounts.open(unique.account());
  const { id: other } = await accounts.open(unique.account());
  const addAnimal = async () => (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).id;
  const animal = async (id: AnimalId) => present(await animals.findById(id));
  const statusOf = async (id: AnimalId) => (await animal(id)).status;
  const withdraw = async (id: AnimalId) => {
    const withdrawn = await animal(id);
    await animals.withdraw(id, NOON, () => eventless(withdrawn));
  };
  const find = (id: OrderId, by = accountId) => orders.findById(by, id);
  const place = (animalId: AnimalId, createdAt = NOON, by = accountId, limit = Infinity) => {
    const placement = { accountId: by, animalId, limit };
    return orders.place(placement, (state) => decidePlacement(state, placement, createdAt));
  };
  /** Places an order for a new animal. */
  const placed = async (createdAt = NOON, by = accountId) => place(await addAnimal(), createdAt, by);
  const end = (id: OrderId, outcome: OrderOutcome, at = later(NOON, MINUTE)) =>
    orders.change(id, (state) => decideEnd(state, { by: accountId, id, outcome }, at));
  const expire = (placedUntil: Instant, limit = 100, at = later(NOON, HOUR)) =>
    orders.expire({ placedUntil, limit }, (state) => decideExpiry(state, at - placedUntil, at));
  /** Leaves nothing due: expiry asks for no account, so it would take the orders of an earlier test. */
  const clear = async () => {
    await expire(later(NOON, 1_000 * HOUR), 1_000);
  };
  return { accountId, other, addAnimal, animal, statusOf, withdraw, find, place, placed, end, expire, clear };
}
