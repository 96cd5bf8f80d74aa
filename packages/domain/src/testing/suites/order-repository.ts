import type { AccountId } from '../../accounts/account.js';
import type { AnimalId } from '../../animals/animal.js';
import { later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { MAX_PAGE_SIZE, type PagePosition } from '../../kernel/page.js';
import type { Transaction } from '../../kernel/transaction.js';
import {
  decideEnd,
  decidePlacement,
  type EndState,
  LIVE_ORDER_STATUSES,
  type Order,
  ORDER_STATUSES,
  type OrderId,
  type PlacementState,
} from '../../orders/order.js';
import type { AllOrdersQuery } from '../../orders/order-repository.js';
import {
  asStored,
  atOnce,
  closeAccount,
  expectDecidedOnce,
  NOON,
  openBefore,
  openWithPassword,
  present,
  REFUSAL,
  stateOf,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';
import { expiry, races } from './order-expiry.js';
import {
  idsOf,
  openOrderStore,
  type OrderPorts,
  type OrderStore,
  OUTCOMES,
  refuse,
  someAtOnce,
} from './order-store.js';

/** One more than a page. */
const MOST = MAX_PAGE_SIZE + 1;

const UNKNOWN = [INT64_MAX, -1n, INT64_MIN];
/** The state of a placement for an animal that isn't there. */
const NOTHING = { animal: undefined, hasLiveOrder: false, placedOrders: 0 };

/** The guarantees of every `OrderRepository`. */
export function orderRepositorySuite(framework: TestFramework, name: string, open: Open<OrderPorts>): void {
  framework.describe(`an order repository (${name})`, () => {
    const opened = openBeforeEach(framework, open);
    for (const suite of [placements, ends, lists, expiry, races]) suite(framework, opened);
  });
  framework.describe(`an order repository with many orders (${name})`, () => {
    pages(framework, open);
  });
}

/** A store, and two new accounts of it for each test. */
function openBeforeEach(framework: TestFramework, open: Open<OrderPorts>) {
  const { beforeEach, afterEach } = framework;
  const unique = new Unique();
  let ports: Opened<OrderPorts>['ports'];
  let store: OrderStore;
  openBefore(framework, open, (opened) => {
    ports = opened.ports;
  });
  beforeEach(async () => {
    store = await openOrderStore(ports, unique);
  });
  afterEach(() => store.clear());
  return () => store;
}

function placements(framework: TestFramework, opened: () => OrderStore): void {
  const { it, expect } = framework;
  const stateFor = (accountId: AccountId, animalId: bigint) =>
    stateOf<PlacementState>((refuse) => opened().orders.place({ accountId, animalId: animalId as AnimalId }, refuse));

  it('decides a placement on the animal, or that there is none', async () => {
    const { accountId, animal, addAnimal } = opened();
    const luna = await animal(await addAnimal());
    expect(await stateFor(accountId, luna.id)).toMatchObject({ animal: luna });
    for (const id of UNKNOWN)
      expect({ id, state: await stateFor(accountId, id) }).toMatchObject({ id, state: NOTHING });
  });

  it('decides a placement on whether the animal has a live order, of whatever account', async () => {
    const { accountId, other, addAnimal, storeOrder } = opened();
    for (const status of ORDER_STATUSES) {
      const [animalId, bystander] = [await addAnimal(), await addAnimal()];
      await storeOrder(animalId, status);
      const hasLiveOrder = LIVE_ORDER_STATUSES.includes(status);
      for (const by of [accountId, other])
        expect({ status, state: await stateFor(by, animalId) }).toMatchObject({ status, state: { hasLiveOrder } });
      expect(await stateFor(other, bystander)).toMatchObject({ hasLiveOrder: false });
    }
  });

  it('decides a placement on how many orders of the account are placed', async () => {
    const { accountId, other, addAnimal, placed, end } = opened();
    const animalId = await addAnimal();
    const counts = async () => [
      (await stateFor(accountId, animalId)).placedOrders,
      (await stateFor(other, animalId)).placedOrders,
    ];
    for (const outcome of OUTCOMES) await end((await placed()).id, outcome);
    expect(await counts()).toEqual([0, 0]);
    await placed();
    await placed(NOON, other);
    await placed();
    expect(await counts()).toEqual([2, 1]);
  });

  it('stores the placed order under a new id, with its animal, and returns it', async () => {
    const { accountId, addAnimal, place, find, statusOf } = opened();
    const [animalId, bystander] = [await addAnimal(), await addAnimal()];
    const order = await place(animalId);
    const at = { createdAt: NOON, updatedAt: NOON };
    expect(order).toEqual({ id: order.id, accountId, animalId, status: 'placed', ...at });
    expect(typeof order.id).toBe('bigint');
    expect(await find(order.id)).toEqual(order);
    expect([await statusOf(animalId), await statusOf(bystander)]).toEqual(['pending', 'available']);
    expect((await place(bystander)).id).not.toBe(order.id);
  });

  it('finds the placed order of an animal for its own account alone, until it ends', async () => {
    const { accountId, other, orders, placed, addAnimal, end } = opened();
    const [order, { animalId: bystander }] = [await placed(), await placed()];
    const found = (by = accountId, animalId = order.animalId) => orders.findPlaced(by, animalId);
    expect([await found(), await found(other)]).toEqual([order, undefined]);
    for (const id of [await addAnimal(), ...UNKNOWN]) expect(await found(accountId, id as AnimalId)).toBeUndefined();
    await end(order.id, 'completed');
    expect(await found()).toBeUndefined();
    expect(await found(accountId, bystander)).toMatchObject({ animalId: bystander });
  });

  it('decides a placement and a change once', async () => {
    const { accountId, addAnimal, placed, orders } = opened();
    const [{ id }, placement] = [await placed(), { accountId, animalId: await addAnimal(), limit: 9 }];
    const command = { by: accountId, id, outcome: 'cancelled' } as const;
    const place = (state: PlacementState) => decidePlacement(state, placement, NOON);
    const end = (state: EndState) => decideEnd(state, command, NOON);
    await expectDecidedOnce(framework, {
      place: (counted) => orders.place(placement, counted(place)),
      change: (counted) => orders.change(id, counted(end)),
    });
  });

  it('stores the events of a placement and of an end, and nothing of what is refused', async () => {
    const { accountId, addAnimal, animal, place, find, end, eventsOf, orders } = opened();
    const animalId = await addAnimal();
    const eventsFor = async (data: Order) =>
      asStored({ type: `order.${data.status}`, data }, { type: 'pet.changed', data: await animal(animalId) });
    expect(await eventsOf(() => stateFor(accountId, animalId))).toEqual([]);
    expect([await orders.list({ accountId, limit: 1 }), (await animal(animalId)).status]).toEqual([[], 'available']);
    const placed: Order[] = [];
    const events = await eventsOf(async () => placed.push(await place(animalId)));
    const order = present(placed[0]);
    expect(events).toEqual(await eventsFor(order));
    expect(await eventsOf(() => stateOf((refused) => orders.change(order.id, refused)))).toEqual([]);
    expect([await find(order.id), (await animal(animalId)).status]).toEqual([order, 'pending']);
    const ending = await eventsOf(() => end(order.id, 'completed'));
    expect(ending).toEqual(await eventsFor(present(await find(order.id))));
  });

  it('places and ends in the transaction that it gets: nothing is left of one that fails', async () => {
    const { accountId, addAnimal, placed, find, statusOf, orders, transact, eventsOf } = opened();
    const [order, animalId] = [await placed(), await addAnimal()];
    const changeAll = async (transaction: Transaction) => {
      const placement = { accountId, animalId, limit: 9 };
      await orders.place(placement, (state) => decidePlacement(state, placement, NOON), transaction);
      // A decision that refuses leaves the transaction as it is.
      await expect(orders.change(order.id, () => refuse(), transaction)).rejects.toBe(REFUSAL);
      const end = { by: accountId, id: order.id, outcome: 'completed' } as const;
      await orders.change(order.id, (state) => decideEnd(state, end, NOON), transaction);
    };
    const failing = () => transact((transaction) => changeAll(transaction).then(refuse));
    expect(await eventsOf(() => expect(failing()).rejects.toBe(REFUSAL))).toEqual([]);
    expect(await orders.list({ accountId, limit: 9 })).toEqual([order]);
    expect([await statusOf(animalId), await statusOf(order.animalId)]).toEqual(['available', 'pending']);
    expect(await eventsOf(() => transact(changeAll))).toHaveLength(4);
    expect((await find(order.id))?.status).toBe('completed');
    expect([await statusOf(animalId), await statusOf(order.animalId)]).toEqual(['pending', 'sold']);
  });
}

function ends({ it, expect }: TestFramework, opened: () => OrderStore): void {
  const look = (id: bigint) => stateOf<EndState>((refused) => opened().orders.change(id as OrderId, refused));

  it('decides a change on the order, of whatever account, and its animal, or says what isn’t there', async () => {
    const { other, placed, animal } = opened();
    const order = await placed(NOON, other);
    expect(await look(order.id)).toEqual({ order, animal: await animal(order.animalId) });
    const none = { order: undefined, animal: undefined };
    for (const id of UNKNOWN) expect({ id, state: await look(id) }).toEqual({ id, state: none });
  });

  for (const outcome of OUTCOMES)
    it(`stores an order that is ${outcome}, with its animal, and returns it`, async () => {
      const { placed, end, find, statusOf } = opened();
      const [order, bystander] = [await placed(), await placed()];
      const at = later(NOON, 5 * MINUTE);
      const ended = { ...order, status: outcome, updatedAt: at };
      expect(await end(order.id, outcome, at)).toEqual(ended);
      expect(await find(order.id)).toEqual(ended);
      expect(await statusOf(order.animalId)).toBe(outcome === 'completed' ? 'sold' : 'available');
      expect(await find(bystander.id)).toEqual(bystander);
      expect(await statusOf(bystander.animalId)).toBe('pending');
    });

  it('decides on the order of a withdrawn animal without it, and stores, finds and lists it as any other', async () => {
    const { accountId, placed, withdraw, find, orders } = opened();
    const order = await placed();
    await withdraw(order.animalId);
    expect(await look(order.id)).toEqual({ order, animal: undefined });
    const ended: Order = { ...order, status: 'expired' };
    expect(await orders.change(order.id, ({ animal }) => ({ order: ended, animal, events: [] }))).toEqual(ended);
    expect(await find(order.id)).toEqual(ended);
    for (const status of [undefined, 'expired'] as const)
      expect(await orders.list({ accountId, status, limit: 1 })).toEqual([ended]);
    const after = (order.id - 1n) as OrderId;
    expect(await orders.listAll({ after, limit: 1 })).toMatchObject([{ order: ended }]);
  });

  it('hides another account’s order', async () => {
    const { other, placed, find, orders } = opened();
    const order = await placed();
    expect(await find(order.id, other)).toBeUndefined();
    expect(await orders.list({ accountId: other, limit: 10 })).toEqual([]);
    for (const id of UNKNOWN) expect({ id, found: await find(id as OrderId) }).toEqual({ id });
  });
}

/** Lists of a store of their own, which has more than a page of one status. The last test changes it. */
function pages(framework: TestFramework, open: Open<OrderPorts>): void {
  const { it, expect } = framework;
  let store: OrderStore;
  let all: readonly Order[];
  openBefore(framework, open, async ({ ports }) => {
    store = await openOrderStore(ports, new Unique());
    const { accountId, other, addAnimal } = store;
    const animals = await atOnce(MOST + 9, () => addAnimal());
    all = await someAtOnce(animals.length, (index) => {
      const animalId = present(animals[index]);
      const at = later(NOON, -index * MINUTE);
      const status = present(index < 12 ? ORDER_STATUSES[index % ORDER_STATUSES.length] : 'placed');
      return store.orders.place({ accountId, animalId }, ({ id, animal }) => {
        const order: Order = { id, accountId, animalId, status, createdAt: at, updatedAt: at };
        return { order, animal: present(animal), events: [] };
      });
    });
    all = [...all].sort((one, next) => (one.id < next.id ? -1 : 1));
    await store.placed(NOON, other);
  });

  for (const [where, placesOf] of [
    ['', () => [{}]],
    [' behind an id', (ids) => ids.map((after) => ({ after }))],
    [' before an id', (ids) => ids.map((before) => ({ before }))],
  ] satisfies readonly [string, (ids: readonly OrderId[]) => readonly PagePosition<OrderId>[]][])
    it(`lists an account’s orders${where}, all or those of a status, ascending and as many as asked for`, async () => {
      const { accountId, orders } = store;
      const places: readonly PagePosition<OrderId>[] = placesOf([0, 5, 6, 11].map((index) => present(all[index]).id));
      for (const status of [undefined, ...ORDER_STATUSES])
        for (const { after, before } of places)
          for (const limit of [2, MOST]) {
            const query = { accountId, status, after, before, limit };
            const matching = all
              .filter((order) => status === undefined || order.status === status)
              .filter(({ id }) => id > (after ?? INT64_MIN) && id < (before ?? INT64_MAX));
            const page = before === undefined ? matching.slice(0, limit) : matching.slice(-limit);
            expect({ query, ids: idsOf(await orders.list(query)) }).toEqual({ query, ids: idsOf(page) });
          }
    });

  it('lists and expires as many orders of all accounts as are asked for, also if that is more than a page', async () => {
    const found = await store.orders.listAll({ limit: MOST });
    expect(found.map(({ order }) => order.id)).toEqual(idsOf(all).slice(0, MOST));
    expect(await store.expire(NOON, MOST)).toHaveLength(MOST);
  });
}

function lists({ it, expect }: TestFramework, opened: () => OrderStore): void {
  it('lists the orders of all accounts with their accounts, all or the placed ones, ascending', async () => {
    const { accounts, other, orders, placed, end } = opened();
    const before = await placed();
    const [one, two] = [await placed(), await placed(NOON, other)];
    const ended = await end((await placed()).id, 'cancelled');
    const last = await placed(NOON, other);
    const list = (query: Partial<AllOrdersQuery>) => orders.listAll({ after: before.id, limit: 100, ...query });
    const found = await list({});
    expect(found.map(({ order }) => order)).toEqual([one, two, ended, last]);
    for (const { account, order } of found) expect(account).toEqual(await accounts.findById(order.accountId));
    expect(await list({ status: 'placed' })).toEqual(found.filter(({ order }) => order.id !== ended.id));
    expect(await list({ status: 'placed', after: two.id })).toEqual(found.slice(-1));
    expect(await list({ limit: 2 })).toEqual(found.slice(0, 2));
    expect((await list({ after: undefined, limit: 1 })).length).toBe(1);
  });

  it('lists the orders of closed accounts, too, for the operator', async () => {
    const { orders, placed, ports, unique } = opened();
    const account = await openWithPassword(ports.credentials, unique);
    const order = await placed(NOON, account.id);
    await closeAccount(ports, account);
    const after = (order.id - 1n) as OrderId;
    expect(await orders.listAll({ after, limit: 1 })).toMatchObject([{ account: { id: account.id }, order }]);
  });
}
