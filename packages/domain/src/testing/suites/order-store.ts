import { type AnimalId, newAnimal } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  type Order,
  ORDER_STATUSES,
  type OrderId,
  type OrderOutcome,
  type OrderStatus,
} from '../../orders/order.js';
import {
  atOnce,
  eventless,
  NOON,
  present,
  REFUSAL,
  storedEvents,
  storeOrder,
  transactFor,
  type Unique,
} from './fixtures.js';

/** The ports that the suites of orders need. */
export type OrderPorts = 'accounts' | 'animals' | 'credentials' | 'events' | 'idempotency' | 'orders';

export const OUTCOMES = ORDER_STATUSES.filter((status): status is OrderOutcome => status !== 'placed');

export const refuse = () => {
  throw REFUSAL;
};
export const idsOf = (orders: readonly Order[]): OrderId[] => orders.map(({ id }) => id);
export const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

/** As `atOnce`, but a few at once: orders of one account wait for each other, and a wait on a busy machine may be refused. */
export async function someAtOnce<Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < times) {
    const done = results.length;
    results.push(...(await atOnce(Math.min(5, times - done), (index) => work(done + index))));
  }
  return results;
}

export type OrderStore = Awaited<ReturnType<typeof openOrderStore>>;

/** Two accounts of a store, and their orders. */
export async function openOrderStore(ports: Pick<Ports, OrderPorts>, unique: Unique) {
  const { accounts, animals, orders } = ports;
  const account = await accounts.open(unique.account());
  const { id: accountId } = account;
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
  const end = (id: OrderId, outcome: OrderOutcome, at = later(NOON, MINUTE)) =>
    orders.change(id, (state) => decideEnd(state, { by: accountId, id, outcome }, at));
  const expire = (placedUntil: Instant, limit = 100, at = later(NOON, HOUR)) =>
    orders.expire({ placedUntil, limit }, (state) => decideExpiry(state, at - placedUntil, at));
  return {
    ports,
    unique,
    accounts,
    animals,
    orders,
    accountId,
    other,
    addAnimal,
    animal,
    statusOf,
    withdraw,
    find,
    place,
    /** Places an order for a new animal. */
    placed: async (createdAt = NOON, by = accountId) => place(await addAnimal(), createdAt, by),
    end,
    expire,
    storeOrder: (id: AnimalId, status: OrderStatus) => storeOrder(ports, account, id, status),
    transact: transactFor(account, ports, unique),
    /** The events that the work stores. */
    eventsOf: async (work: () => Promise<unknown>) => {
      const { length } = await storedEvents(ports, accountId);
      await work();
      return (await storedEvents(ports, accountId)).slice(length);
    },
    /** Leaves nothing due: expiry asks for no account, so it would take the orders of an earlier test. */
    clear: async () => {
      await expire(later(NOON, 1_000 * HOUR), 1_000);
    },
  };
}
