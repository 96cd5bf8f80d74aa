import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../accounts/account.js';
import { type PetStatus, statusesBefore } from '../animals/animal.js';
import { type ApplicationOptions, createApplication } from '../application.js';
import { HOUR, later, MINUTE } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { DEFAULT_ORDER_TTL } from './expire-orders.js';
import { ORDER_STATUSES, petStatusOnceOrder } from './order.js';

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
});

it('an order is not found by another account', async () => {
  const { add, placeOrder, completeOrder, getOrder, statusOf } = openStore();
  const { id: animalId } = await add();
  const { id } = await placeOrder.execute({ accountId: alice, animalId });
  const refusal = { code: 'not_found', message: `no order of this account has the id ${id}` };
  await expect(completeOrder.execute({ accountId: bob, id })).rejects.toMatchObject(refusal);
  await expect(getOrder.execute({ accountId: bob, id })).rejects.toMatchObject(refusal);
  expect(await statusOf(animalId)).toBe('pending');
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
