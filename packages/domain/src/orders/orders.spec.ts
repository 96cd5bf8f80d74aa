import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId } from '../accounts/account.js';
import {
  type Animal,
  type AnimalId,
  type CategoryId,
  decideChange,
  PET_STATUSES,
  type PetStatus,
} from '../animals/animal.js';
import { type ApplicationOptions, createApplication } from '../application.js';
import { HOUR, type Instant, instant, later, MINUTE } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { decisions, inMemoryPorts, unchanged } from '../testing/index.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  DEFAULT_ORDER_TTL,
  type EndedOrder,
  type EndState,
  type Order,
  ORDER_STATUSES,
  type OrderEnd,
  type OrderId,
  type OrderOutcome,
  type Placement,
  type PlacementState,
} from './order.js';

const alice = 1n as AccountId;
const bob = 2n as AccountId;

function openStore(options: ApplicationOptions = {}) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, options);
  const add = (status?: PetStatus) => application.addAnimal.execute({ name: 'Luna', categoryId: 1n, status });
  const statusOf = async (id: bigint) => (await application.getAnimal.execute(id)).status;
  return { ...application, clock: ports.clock, add, statusOf };
}

const noon = instant(Date.UTC(2026, 0, 1, 12));
const placedAt = later(noon, -HOUR);
const luna: Animal = { id: 3n as AnimalId, name: 'Luna', categoryId: 1n as CategoryId, status: 'available' };
const pending: Animal = { ...luna, status: 'pending' };
const placed: Order = {
  id: 5n as OrderId,
  accountId: alice,
  animalId: luna.id,
  status: 'placed',
  createdAt: placedAt,
  updatedAt: placedAt,
};

/** What is decided of an order that ends at noon. */
function endedWith(outcome: OrderOutcome, animal: Animal | undefined): EndedOrder {
  const order: Order = { ...placed, status: outcome, updatedAt: noon };
  const changed = animal === undefined ? [] : [{ type: 'pet.changed', data: animal } as const];
  return { order, animal, events: [{ type: `order.${outcome}`, data: order }, ...changed] };
}

describe('placing an order', () => {
  const given = decisions({ it, expect }, (state: PlacementState, command: Placement) =>
    decidePlacement(state, command, noon),
  );
  const placement = { accountId: alice, animalId: luna.id, limit: 2 };
  const state = { id: placed.id, animal: luna, hasLiveOrder: false, placedOrders: 1 };
  const ordered: Order = { ...placed, createdAt: noon, updatedAt: noon };
  given('an available animal', state)
    .when('it is ordered', placement)
    .then('the order is placed, and the animal is pending', {
      order: ordered,
      animal: pending,
      events: [
        { type: 'order.placed', data: ordered },
        { type: 'pet.changed', data: pending },
      ],
    });
  const refusal = 'the animal 3 is not available';
  for (const status of ['pending', 'sold'] as const) {
    given(`a ${status} animal`, { ...state, animal: { ...luna, status } })
      .when('it is ordered', placement)
      .thenRefused('pet_not_available', refusal);
  }
  given('an animal that was made available by hand though it has a live order', { ...state, hasLiveOrder: true })
    .when('it is ordered', placement)
    .thenRefused('pet_not_available', refusal);
  given('no animal', { ...state, animal: undefined })
    .when('it is ordered', placement)
    .thenRefused('not_found', 'no animal has the id 3');
  for (const [animal, which] of [
    [luna, 'an animal'],
    [undefined, 'no animal'],
  ] as const) {
    given(`${which} and an account at its limit`, { id: placed.id, animal, hasLiveOrder: true, placedOrders: 2 })
      .when('it is ordered', placement)
      .thenRefused('too_many_orders', 'the account has 2 orders that are placed, which is the most');
  }
});

describe('ending an order', () => {
  const given = decisions({ it, expect }, (state: EndState, command: OrderEnd) => decideEnd(state, command, noon));
  const end = (outcome: OrderOutcome, accountId = alice) => ({ accountId, id: placed.id, outcome });
  for (const [outcome, status] of [
    ['completed', 'sold'],
    ['cancelled', 'available'],
  ] as const) {
    given('an order that is placed', { order: placed, animal: pending })
      .when(`it is ${outcome}`, end(outcome))
      .then(`the animal is ${status}`, endedWith(outcome, { ...pending, status }));
  }
  for (const status of ['completed', 'cancelled', 'expired'] as const) {
    given(`an order that is ${status}`, { order: { ...placed, status }, animal: luna })
      .when('it is cancelled', end('cancelled'))
      .thenRefused('order_final', `the order 5 is ${status} already`);
  }
  const asPlaced = { ...end('cancelled'), condition: unchanged(placed) };
  given('an order as it was seen', { order: placed, animal: undefined })
    .when('it is cancelled if it is so', asPlaced)
    .then('it is', endedWith('cancelled', undefined));
  given('an order that has ended since it was seen', { order: { ...placed, status: 'expired' }, animal: luna })
    .when('it is cancelled if it is as it was', asPlaced)
    .thenRefused('precondition_failed');
  const missing = 'no order of this account has the id 5';
  given('no order', { order: undefined, animal: undefined })
    .when('it is cancelled', end('cancelled'))
    .thenRefused('not_found', missing);
  for (const status of ORDER_STATUSES) {
    given(`another account’s order that is ${status}`, { order: { ...placed, status }, animal: pending })
      .when('it is cancelled', end('cancelled', bob))
      .thenRefused('not_found', missing);
  }
  const { order: cancelled, events } = endedWith('cancelled', undefined);
  given('an order whose animal was sold by hand', { order: placed, animal: { ...luna, status: 'sold' } })
    .when('it is cancelled', end('cancelled'))
    .then('the animal stays sold', { order: cancelled, animal: { ...luna, status: 'sold' }, events });
  given('an order whose animal is gone', { order: placed, animal: undefined })
    .when('it is cancelled', end('cancelled'))
    .then('only the order changes', { order: cancelled, animal: undefined, events });
});

describe('the expiry of an order', () => {
  const given = decisions({ it, expect }, (state: EndState, ttl: number) => decideExpiry(state, ttl, noon));
  const old = given('an order that was placed an hour ago', { order: placed, animal: pending });
  old.when('its time is an hour', HOUR).then('it expires, and the animal is available', endedWith('expired', luna));
  old.when('its time is longer', HOUR + 1).then('it stays', undefined);
  for (const status of ['completed', 'cancelled', 'expired'] as const) {
    given(`an order that is ${status}`, { order: { ...placed, status }, animal: luna })
      .when('its time is over', MINUTE)
      .then('it stays', undefined);
  }
  given('no order', { order: undefined, animal: undefined })
    .when('its time is over', MINUTE)
    .then('nothing', undefined);
});

describe('whatever happens to an animal', () => {
  interface Store {
    readonly animal: Animal;
    readonly orders: readonly Order[];
  }
  const steps = fc.array(
    fc.oneof(
      fc.record({ place: fc.constantFrom(alice, bob) }),
      fc.record({
        end: fc.nat(5),
        by: fc.constantFrom(alice, bob),
        outcome: fc.constantFrom('completed' as const, 'cancelled' as const),
      }),
      fc.record({ expire: fc.nat(5), ttl: fc.nat(3) }),
      fc.record({ status: fc.constantFrom(...PET_STATUSES) }),
    ),
    { maxLength: 30 },
  );
  type Step = typeof steps extends fc.Arbitrary<(infer Each)[]> ? Each : never;

  const isLive = ({ status }: Order) => status === 'placed' || status === 'completed';
  const put = ({ orders }: Store, { order, animal = luna }: EndedOrder): Store => ({
    animal,
    orders: [...orders.filter(({ id }) => id !== order.id), order].sort((one, other) => (one.id < other.id ? -1 : 1)),
  });

  function after(store: Store, step: Step, now: Instant): Store {
    const { animal, orders } = store;
    if ('place' in step) {
      const placement = { accountId: step.place, animalId: animal.id, limit: 1 };
      const placedOrders = orders.filter((each) => each.accountId === step.place && each.status === 'placed').length;
      const state = { id: BigInt(orders.length) as OrderId, animal, hasLiveOrder: orders.some(isLive), placedOrders };
      return put(store, decidePlacement(state, placement, now));
    }
    if ('status' in step) {
      const isOrdered = orders.some(({ status }) => status === 'placed');
      const edit = { id: animal.id, change: { status: step.status } };
      return { ...store, ...decideChange({ animal, isOrdered }, edit) };
    }
    if ('expire' in step) {
      const expired = decideExpiry({ order: orders[step.expire], animal }, step.ttl, now);
      return expired === undefined ? store : put(store, expired);
    }
    const id = BigInt(step.end) as OrderId;
    const end = { accountId: step.by, id, outcome: step.outcome };
    return put(store, decideEnd({ order: orders[step.end], animal }, end, now));
  }

  it('one order for it is live at most, a placed one keeps it pending, and once it is sold it stays so', () => {
    fc.assert(
      fc.property(steps, (all) => {
        let store: Store = { animal: luna, orders: [] };
        for (const [index, step] of all.entries()) {
          const before = store;
          try {
            store = after(before, step, later(noon, index));
          } catch (error) {
            if (!(error instanceof DomainError)) throw error;
          }
          const live = store.orders.filter(isLive);
          expect(live.length).toBeLessThanOrEqual(1);
          if (live[0]?.status === 'placed') expect(store.animal.status).toBe('pending');
          expect(store.animal.status === 'sold').toBe(live[0]?.status === 'completed');
          for (const order of before.orders.filter(({ status }) => status !== 'placed'))
            expect(store.orders).toContainEqual(order);
        }
      }),
    );
  });
});

describe('the use cases of orders', () => {
  it('place an order, complete it and get it, for its own account alone', async () => {
    const { add, placeOrder, completeOrder, getOrder, statusOf, clock } = openStore();
    const { id: animalId } = await add();
    const order = await placeOrder.execute({ accountId: alice, animalId });
    const { id } = order;
    expect(order).toEqual({
      id: 1n,
      accountId: alice,
      animalId,
      status: 'placed',
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(await statusOf(animalId)).toBe('pending');
    clock.advance(MINUTE);
    const refusal = { code: 'not_found', message: `no order of this account has the id ${id}` };
    await expect(completeOrder.execute({ accountId: bob, id })).rejects.toMatchObject(refusal);
    await expect(getOrder.execute({ accountId: bob, id })).rejects.toMatchObject(refusal);
    const completed = { ...order, status: 'completed', updatedAt: clock.now() };
    expect(await completeOrder.execute({ accountId: alice, id })).toEqual(completed);
    expect(await getOrder.execute({ accountId: alice, id })).toEqual(completed);
    expect(await statusOf(animalId)).toBe('sold');
  });

  it('refuse an order at the account’s limit, until one is cancelled', async () => {
    const { add, placeOrder, cancelOrder } = openStore({ orderLimit: 1 });
    const order = async (accountId: AccountId) => placeOrder.execute({ accountId, animalId: (await add()).id });
    const { id } = await order(alice);
    await expect(order(alice)).rejects.toMatchObject({ code: 'too_many_orders', kind: 'conflict' });
    expect(await order(bob)).toMatchObject({ accountId: bob });
    expect(await cancelOrder.execute({ accountId: alice, id })).toMatchObject({ status: 'cancelled' });
    expect(await order(alice)).toMatchObject({ accountId: alice });
  });
});

describe('an order that is neither completed nor cancelled', () => {
  it('expires 48 hours after it was placed, not before, and its animal is available again', async () => {
    const { add, placeOrder, expireOrders, statusOf, clock } = openStore();
    const { id: animalId } = await add();
    const order = await placeOrder.execute({ accountId: alice, animalId });
    clock.set(later(order.createdAt, 48 * HOUR - 1));
    expect(await expireOrders.execute()).toEqual({ expired: [], mayHaveMore: false });
    clock.advance(1);
    const expired = { ...order, status: 'expired', updatedAt: clock.now() };
    expect(await expireOrders.execute()).toEqual({ expired: [expired], mayHaveMore: false });
    expect(await statusOf(animalId)).toBe('available');
    expect((await placeOrder.execute({ accountId: bob, animalId })).status).toBe('placed');
  });

  it('expires in batches of 100', async () => {
    const { add, placeOrder, expireOrders, clock } = openStore({ orderLimit: 1_000 });
    for (let count = 0; count < 150; count += 1) {
      await placeOrder.execute({ accountId: alice, animalId: (await add()).id });
    }
    clock.advance(DEFAULT_ORDER_TTL);
    expect(await expireOrders.execute()).toMatchObject({ mayHaveMore: true, expired: { length: 100 } });
    expect(await expireOrders.execute()).toMatchObject({ mayHaveMore: false, expired: { length: 50 } });
  });
});

describe('the list of orders', () => {
  it('holds only the account’s own orders, filtered by status, page by page, from either end', async () => {
    const { add, placeOrder, cancelOrder, listOrders } = openStore();
    const order = async (accountId = alice) => placeOrder.execute({ accountId, animalId: (await add()).id });
    const [first, , second, third] = [await order(), await order(bob), await order(), await order()];
    const cancelled = await cancelOrder.execute({ accountId: alice, id: second.id });
    const list = (input = {}) => listOrders.execute({ accountId: alice, ...input });
    expect(await list()).toEqual({ items: [first, cancelled, third], next: undefined });
    expect((await list({ status: 'cancelled' })).items).toEqual([cancelled]);
    expect(await list({ limit: 2 })).toEqual({ items: [first, cancelled], next: second.id });
    expect((await list({ after: second.id })).items).toEqual([third]);
    const newest = (input = {}) => list({ first: 'newest', limit: 2, ...input });
    expect(await newest()).toEqual({ items: [third, cancelled], next: second.id });
    expect(await newest({ after: second.id })).toEqual({ items: [first], previous: first.id });
    expect(await newest({ before: first.id })).toEqual(await newest());
    await expect(list({ limit: 101 })).rejects.toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });
});
