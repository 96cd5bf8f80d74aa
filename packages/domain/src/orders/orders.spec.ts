import type { StorePolicy } from '../store-policy.js';
import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '../accounts/account.js';
import type { Animal, AnimalId, CategoryId } from '../animals/animal.js';
import { type ApplicationOptions, createApplication } from '../application.js';
import { HOUR, instant, later, MINUTE } from '../kernel/clock.js';
import { anOrder } from '../testing/builders.js';
import { decisions, inMemoryPorts, unchanged } from '../testing/index.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  DEFAULT_ORDER_TTL,
  type EndedOrder,
  type EndState,
  type Order,
  type OrderEnd,
  type OrderOutcome,
  type Placement,
  type PlacementState,
} from './order.js';

const alice = 1n as AccountId;
const bob = 2n as AccountId;

function openStore(options: ApplicationOptions & Partial<StorePolicy> = {}) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(options), options);
  const add = () => application.addAnimal.execute({ name: 'Luna', categoryId: 1n });
  const statusOf = async (id: bigint) => (await application.getAnimal.execute(id)).status;
  return { ...application, clock: ports.clock, add, statusOf };
}

const noon = instant(Date.UTC(2026, 0, 1, 12));
const placedAt = later(noon, -HOUR);
const luna: Animal = { id: 3n as AnimalId, name: 'Luna', categoryId: 1n as CategoryId, status: 'available' };
const pending: Animal = { ...luna, status: 'pending' };
const placed = anOrder({ accountId: alice, animalId: luna.id, createdAt: placedAt, updatedAt: placedAt });

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
  const reserved = { ...state, animal: pending };
  const byHand = { ...state, hasLiveOrder: true };
  const unknown = { ...state, animal: undefined };
  const full = { ...unknown, placedOrders: 2 };
  const most = 'the account has 2 orders that are placed, which is the most';
  given('a pending animal', reserved).when('it is ordered', placement).thenRefused('pet_not_available', refusal);
  given('an animal that was made available by hand though it has a live order', byHand)
    .when('it is ordered', placement)
    .thenRefused('pet_not_available', refusal);
  given('no animal', unknown).when('it is ordered', placement).thenRefused('not_found', 'no animal has the id 3');
  given('an account at its limit', full).when('none is ordered', placement).thenRefused('too_many_orders', most);
});

describe('ending an order', () => {
  const given = decisions({ it, expect }, (state: EndState, command: OrderEnd) => decideEnd(state, command, noon));
  const end = (outcome: OrderOutcome, by: OrderEnd['by'] = alice) => ({ by, id: placed.id, outcome });
  const [complete, cancel, cancelAsBob] = [end('completed'), end('cancelled'), end('cancelled', bob)];
  const cancelAsSeen = { ...cancel, condition: unchanged(placed) };
  const sold: Animal = { ...luna, status: 'sold' };
  const there = { order: placed, animal: pending };
  const withoutAnimal = { order: placed, animal: undefined };
  const soldByHand = { order: placed, animal: sold };
  const nothing = { order: undefined, animal: undefined };
  const thatIs = (status: OrderOutcome) => ({ order: { ...placed, status }, animal: luna });
  const { order: cancelled, events } = endedWith('cancelled', undefined);
  const stillSold = { order: cancelled, animal: sold, events };
  const missing = 'no order of this account has the id 5';

  given('one that is placed', there)
    .when('it is completed', complete)
    .then('its animal is sold', endedWith('completed', sold));
  given('one that is placed', there)
    .when('it is cancelled', cancel)
    .then('its animal is free', endedWith('cancelled', luna));
  for (const status of ['completed', 'cancelled', 'expired'] as const)
    given(`one that is ${status}`, thatIs(status))
      .when('it is cancelled', cancel)
      .thenRefused('order_final', `the order 5 is ${status} already`);
  given('one as it was seen', there)
    .when('it is cancelled if it is so', cancelAsSeen)
    .then('it is', endedWith('cancelled', luna));
  given('one that has ended since it was seen', thatIs('expired'))
    .when('it is cancelled if it is as it was', cancelAsSeen)
    .thenRefused('precondition_failed');
  given('no order', nothing).when('it is cancelled', cancel).thenRefused('not_found', missing);
  given('another account’s', there).when('it is cancelled', cancelAsBob).thenRefused('not_found', missing);
  given('another’s that has ended', thatIs('expired'))
    .when('it is cancelled', cancelAsBob)
    .thenRefused('not_found', missing);
  given('another account’s', there)
    .when('the operator completes it', end('completed', 'operator'))
    .then('its animal is sold, and the events are the account’s', endedWith('completed', sold));
  given('one that is completed', thatIs('completed'))
    .when('the operator cancels it', end('cancelled', 'operator'))
    .thenRefused('order_final', 'the order 5 is completed already');
  given('no order', nothing)
    .when('the operator cancels it', end('cancelled', 'operator'))
    .thenRefused('not_found', 'no order has the id 5');
  given('one whose animal was sold by hand', soldByHand)
    .when('it is cancelled', cancel)
    .then('it stays sold', stillSold);
  given('one whose animal is gone', withoutAnimal)
    .when('it is cancelled', cancel)
    .then('only the order changes', { order: cancelled, animal: undefined, events });
});

describe('the expiry of an order', () => {
  const given = decisions({ it, expect }, (state: EndState, ttl: number) => decideExpiry(state, ttl, noon));
  const old = given('an order that was placed an hour ago', { order: placed, animal: pending });
  old.when('its time is an hour', HOUR).then('it expires, and the animal is available', endedWith('expired', luna));
  old.when('its time is longer', HOUR + 1).then('it stays', undefined);
  const completed: EndState = { order: { ...placed, status: 'completed' }, animal: luna };
  const none = { order: undefined, animal: undefined };
  given('an order that has ended', completed).when('its time is over', MINUTE).then('it stays', undefined);
  given('no order', none).when('its time is over', MINUTE).then('nothing', undefined);
});

describe('an order that is neither completed nor cancelled', () => {
  it('expires 48 hours after it was placed, not before, and its animal is available again', async () => {
    const { add, placeOrder, getOrder, expireOrders, statusOf, clock } = openStore();
    const { id: animalId } = await add();
    const order = await placeOrder.execute({ accountId: alice, animalId });
    const expiresAt = later(order.createdAt, 48 * HOUR);
    expect(await getOrder.execute(order)).toEqual({ ...order, expiresAt });
    clock.set(later(expiresAt, -1));
    expect(await expireOrders.execute()).toEqual({ expired: [], mayHaveMore: false });
    clock.advance(1);
    const expired = { ...order, status: 'expired', updatedAt: clock.now() };
    expect(await expireOrders.execute()).toEqual({ expired: [expired], mayHaveMore: false });
    expect(await statusOf(animalId)).toBe('available');
    expect((await placeOrder.execute({ accountId: bob, animalId })).status).toBe('placed');
  });

  it('expires in batches of 100', async () => {
    const { add, placeOrder, expireOrders, clock } = openStore({ orderLimit: 1_000 });
    for (let count = 0; count < 150; count += 1)
      await placeOrder.execute({ accountId: alice, animalId: (await add()).id });
    clock.advance(DEFAULT_ORDER_TTL);
    expect(await expireOrders.execute()).toMatchObject({ mayHaveMore: true, expired: { length: 100 } });
    expect(await expireOrders.execute()).toMatchObject({ mayHaveMore: false, expired: { length: 50 } });
  });
});

describe('the list of orders', () => {
  it('is the account’s own, by status, page by page, from either end', async () => {
    const { add, placeOrder, endOrder, listOrders } = openStore();
    const order = async (accountId = alice) => placeOrder.execute({ accountId, animalId: (await add()).id });
    const [first, , second, third] = [await order(), await order(bob), await order(), await order()];
    const cancelled = await endOrder.execute({ by: alice, id: second.id, outcome: 'cancelled' });
    const list = (input = {}) => listOrders.execute({ accountId: alice, ...input });
    expect((await list({ status: 'cancelled' })).items).toEqual([cancelled]);
    expect(await list({ limit: 2 })).toEqual({ items: [first, cancelled], next: second.id });
    const newest = { first: 'newest', limit: 2 };
    expect(await list(newest)).toEqual({ items: [third, cancelled], next: second.id });
    expect(await list({ ...newest, after: second.id })).toEqual({ items: [first], previous: first.id });
    await expect(list({ limit: 101 })).rejects.toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });
});
