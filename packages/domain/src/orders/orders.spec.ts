import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId } from '../accounts/account.js';
import { PET_STATUSES, type PetStatus, statusesBefore } from '../animals/animal.js';
import { type Application, type ApplicationOptions, createApplication } from '../application.js';
import { HOUR, later, MINUTE } from '../kernel/clock.js';
import { inMemoryPorts, type ManualClock } from '../testing/index.js';
import { DEFAULT_ORDER_TTL } from './expire-orders.js';
import { ORDER_STATUSES, type OrderStatus, petStatusOnceOrder } from './order.js';

const alice = 1n as AccountId;
const bob = 2n as AccountId;

function openStore(options: ApplicationOptions = {}) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, options);
  const add = (status?: PetStatus) => application.addAnimal.execute({ name: 'Luna', categoryId: 1n, status });
  const statusOf = async (id: bigint) => (await application.getAnimal.execute(id)).status;
  return { ...application, clock: ports.clock, add, statusOf };
}

describe('an order’s status', () => {
  it('changes the animal’s only as the animal’s own table allows', () => {
    expect(statusesBefore(petStatusOnceOrder.placed, 'order')).toEqual(['available']);
    for (const outcome of ORDER_STATUSES.filter((status) => status !== 'placed')) {
      expect(statusesBefore(petStatusOnceOrder[outcome], 'order')).toEqual([petStatusOnceOrder.placed]);
    }
  });
});

describe('placing an order', () => {
  it('makes the animal pending and gives the order', async () => {
    const { add, placeOrder, statusOf, clock } = openStore();
    const { id: animalId } = await add();
    const now = clock.now();
    expect(await placeOrder.execute({ accountId: alice, animalId })).toEqual({
      id: 1n,
      accountId: alice,
      animalId,
      status: 'placed',
      createdAt: now,
      updatedAt: now,
    });
    expect(await statusOf(animalId)).toBe('pending');
  });

  it.each(['pending', 'sold'] as const)('is refused for an animal that is %s', async (status) => {
    const { add, placeOrder, statusOf } = openStore();
    const { id: animalId } = await add(status);
    await expect(placeOrder.execute({ accountId: alice, animalId })).rejects.toMatchObject({
      code: 'pet_not_available',
      kind: 'conflict',
    });
    expect(await statusOf(animalId)).toBe(status);
  });

  it('is refused at the account’s limit of placed orders, until one has ended', async () => {
    const { add, placeOrder, cancelOrder, statusOf } = openStore({ orderLimit: 2 });
    const order = async (accountId: AccountId) => placeOrder.execute({ accountId, animalId: (await add()).id });
    const [first] = [await order(alice), await order(alice)];
    const { id: animalId } = await add();
    await expect(placeOrder.execute({ accountId: alice, animalId })).rejects.toMatchObject({
      code: 'too_many_orders',
      kind: 'conflict',
    });
    expect(await statusOf(animalId)).toBe('available');
    expect(await order(bob)).toMatchObject({ accountId: bob });
    await cancelOrder.execute({ accountId: alice, id: first.id });
    expect(await placeOrder.execute({ accountId: alice, animalId })).toMatchObject({ animalId });
  });

  it('is refused for the 101st placed order by default', async () => {
    const { add, placeOrder } = openStore();
    for (let placed = 0; placed < 100; placed += 1)
      await placeOrder.execute({ accountId: alice, animalId: (await add()).id });
    await expect(placeOrder.execute({ accountId: alice, animalId: (await add()).id })).rejects.toMatchObject({
      code: 'too_many_orders',
    });
  });

  it('is refused for an animal that is not there', async () => {
    const { placeOrder } = openStore();
    await expect(placeOrder.execute({ accountId: alice, animalId: 9n })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe.each([
  ['completing', 'completeOrder', 'completed', 'sold'],
  ['cancelling', 'cancelOrder', 'cancelled', 'available'],
] as const)('%s an order', (_name, useCase, status, petStatus) => {
  const openPlaced = async () => {
    const store = openStore();
    const { id: animalId } = await store.add();
    const order = await store.placeOrder.execute({ accountId: alice, animalId });
    store.clock.advance(MINUTE);
    return { store, order, animalId };
  };

  it(`makes it ${status} and the animal ${petStatus}`, async () => {
    const { store, order, animalId } = await openPlaced();
    const ended = { ...order, status, updatedAt: store.clock.now() };
    expect(await store[useCase].execute({ accountId: alice, id: order.id })).toEqual(ended);
    expect(await store.getOrder.execute({ accountId: alice, id: order.id })).toEqual(ended);
    expect(await store.statusOf(animalId)).toBe(petStatus);
  });

  it.each(['completeOrder', 'cancelOrder'] as const)('is final: %s is refused afterwards', async (second) => {
    const { store, order, animalId } = await openPlaced();
    await store[useCase].execute({ accountId: alice, id: order.id });
    await expect(store[second].execute({ accountId: alice, id: order.id })).rejects.toMatchObject({
      code: 'order_final',
      kind: 'conflict',
      message: `the order ${order.id} is ${status} already`,
    });
    expect(await store.statusOf(animalId)).toBe(petStatus);
  });

  it('is refused to another account as if the order did not exist', async () => {
    const { store, order, animalId } = await openPlaced();
    const refusal = { code: 'not_found', message: `no order of this account has the id ${order.id}` };
    await expect(store[useCase].execute({ accountId: bob, id: order.id })).rejects.toMatchObject(refusal);
    await expect(store.getOrder.execute({ accountId: bob, id: order.id })).rejects.toMatchObject(refusal);
    expect(await store.statusOf(animalId)).toBe('pending');
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
  it('holds only the account’s own orders, filtered by status, page by page', async () => {
    const { add, placeOrder, cancelOrder, listOrders } = openStore();
    const placed = [];
    for (const accountId of [alice, bob, alice, bob, alice]) {
      placed.push(await placeOrder.execute({ accountId, animalId: (await add()).id }));
    }
    const [first, , second, , third] = placed;
    const cancelled = await cancelOrder.execute({ accountId: alice, id: second?.id ?? 0n });
    expect(await listOrders.execute({ accountId: alice })).toEqual({
      items: [first, cancelled, third],
      next: undefined,
    });
    expect((await listOrders.execute({ accountId: alice, status: 'cancelled' })).items).toEqual([cancelled]);
    expect(await listOrders.execute({ accountId: alice, limit: 2 })).toEqual({
      items: [first, cancelled],
      next: second?.id,
    });
    expect((await listOrders.execute({ accountId: alice, after: second?.id })).items).toEqual([third]);
    const newest = (input = {}) => listOrders.execute({ accountId: alice, first: 'newest', limit: 2, ...input });
    expect(await newest()).toEqual({ items: [third, cancelled], next: second?.id });
    expect(await newest({ after: second?.id })).toEqual({ items: [first], previous: first?.id });
    expect(await newest({ before: first?.id })).toEqual(await newest());
    await expect(listOrders.execute({ accountId: alice, limit: 101 })).rejects.toMatchObject({
      message: 'limit must be an integer from 1 to 100',
    });
  });
});

interface Model {
  readonly animals: PetStatus[];
  readonly orders: { account: bigint; animal: number; status: OrderStatus; placedAt: number }[];
  /** The expected result of each call. */
  readonly outcomes: string[];
}

interface Store extends Application {
  readonly clock: ManualClock;
  /** The actual result of each call. */
  readonly outcomes: string[];
}

/** The result of a call: 'done', or the code of its error. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}

type Command = fc.AsyncCommand<Model, Store>;

function command(name: string, run: (model: Model, store: Store) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

function addAnimal(status: PetStatus): Command {
  return command(`add ${status}`, async (model, { addAnimal: add }) => {
    await add.execute({ name: 'Luna', categoryId: 1n, status });
    model.animals.push(status);
  });
}

function placeOrder(account: AccountId, animal: number): Command {
  return command(`${account} orders ${animal}`, async (model, store) => {
    const status = model.animals[animal - 1];
    const call = store.placeOrder.execute({ accountId: account, animalId: BigInt(animal) });
    const expected = { available: 'done', pending: 'pet_not_available', sold: 'pet_not_available' };
    store.outcomes.push(await outcomeOf(call));
    model.outcomes.push(status === undefined ? 'not_found' : expected[status]);
    if (status !== 'available') return;
    model.animals[animal - 1] = 'pending';
    model.orders.push({ account, animal, status: 'placed', placedAt: store.clock.now() });
  });
}

function endOrder(account: AccountId, order: number, useCase: 'completeOrder' | 'cancelOrder'): Command {
  return command(`${account} ${useCase} ${order}`, async (model, store) => {
    const known = model.orders[order - 1];
    store.outcomes.push(await outcomeOf(store[useCase].execute({ accountId: account, id: BigInt(order) })));
    if (known?.account !== account) model.outcomes.push('not_found');
    else if (known.status !== 'placed') model.outcomes.push('order_final');
    else {
      model.outcomes.push('done');
      known.status = useCase === 'completeOrder' ? 'completed' : 'cancelled';
      model.animals[known.animal - 1] = useCase === 'completeOrder' ? 'sold' : 'available';
    }
  });
}

function expire(pause: number): Command {
  return command(`expire after ${pause} h`, async (model, store) => {
    store.clock.advance(pause * HOUR);
    await store.expireOrders.execute();
    const due = model.orders.filter(
      ({ status, placedAt }) => status === 'placed' && placedAt + 48 * HOUR <= store.clock.now(),
    );
    for (const order of due) {
      order.status = 'expired';
      model.animals[order.animal - 1] = 'available';
    }
  });
}

/** Everything that the use cases show. */
async function seen({ listAnimals, listOrders, outcomes }: Store): Promise<Model> {
  const animals = await listAnimals.execute({ limit: 100 });
  const orders = [];
  for (const accountId of [alice, bob]) orders.push(...(await listOrders.execute({ accountId, limit: 100 })).items);
  return {
    animals: animals.items.map(({ status }) => status),
    orders: orders
      .sort((one, other) => Number(one.id - other.id))
      .map(({ accountId, animalId, status, createdAt }) => ({
        account: accountId,
        animal: Number(animalId),
        status,
        placedAt: createdAt,
      })),
    outcomes,
  };
}

describe('any history of the store', () => {
  const account = fc.constantFrom(alice, bob);
  const number = fc.integer({ min: 1, max: 6 });

  it('matches the model (10,000 histories)', async () => {
    const history = fc.commands(
      [
        fc.constantFrom(...PET_STATUSES, 'available' as const).map(addAnimal),
        fc.tuple(account, number).map(([who, animal]) => placeOrder(who, animal)),
        fc.tuple(account, number).map(([who, animal]) => placeOrder(who, animal)),
        fc
          .tuple(account, number, fc.constantFrom('completeOrder' as const, 'cancelOrder' as const))
          .map(([who, order, useCase]) => endOrder(who, order, useCase)),
        fc.integer({ min: 0, max: 50 }).map(expire),
      ],
      { maxCommands: 30 },
    );
    await fc.assert(
      fc.asyncProperty(history, async (commands) => {
        const ports = inMemoryPorts();
        const model: Model = { animals: [], orders: [], outcomes: [] };
        const real: Store = { ...createApplication(ports), clock: ports.clock, outcomes: [] };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        expect(await seen(real)).toEqual(model);
      }),
      { numRuns: 10_000 },
    );
  });
});
