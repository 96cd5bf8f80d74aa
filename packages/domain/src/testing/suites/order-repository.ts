import type { AccountId } from '../../accounts/account.js';
import {
  type Animal,
  type AnimalId,
  decideChange,
  decideWithdrawal,
  newAnimal,
  PET_STATUSES,
} from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, later, MINUTE } from '../../kernel/clock.js';
import type { DomainError } from '../../kernel/errors.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { MAX_PAGE_SIZE, type PagePosition } from '../../kernel/page.js';
import type { Transaction } from '../../kernel/transaction.js';
import {
  decideEnd,
  decideExpiry,
  decidePlacement,
  type EndState,
  LIVE_ORDER_STATUSES,
  type Order,
  ORDER_STATUSES,
  type OrderId,
  type OrderOutcome,
  type OrderStatus,
  type PlacementState,
} from '../../orders/order.js';
import type { AllOrdersQuery } from '../../orders/order-repository.js';
import {
  asStored,
  atOnce,
  closeAccount,
  eventless,
  expectDecidedOnce,
  NOON,
  openBefore,
  openWithPassword,
  present,
  race,
  REFUSAL,
  stateOf,
  storedEvents,
  storeOrder,
  transactFor,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type OrderPorts = 'accounts' | 'animals' | 'credentials' | 'events' | 'idempotency' | 'orders';

const OUTCOMES = ORDER_STATUSES.filter((status): status is OrderOutcome => status !== 'placed');

/** One more than a page. */
const MOST = MAX_PAGE_SIZE + 1;

const UNKNOWN = [INT64_MAX, -1n, INT64_MIN];
/** The state of a placement for an animal that isn't there. */
const NOTHING = { animal: undefined, hasLiveOrder: false, placedOrders: 0 };

const refuse = () => {
  throw REFUSAL;
};
const idsOf = (orders: readonly Order[]): OrderId[] => orders.map(({ id }) => id);
const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

/** As `atOnce`, but a few at once: orders of one account wait for each other, and a wait on a busy machine may be refused. */
async function someAtOnce<Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < times) {
    const done = results.length;
    results.push(...(await atOnce(Math.min(5, times - done), (index) => work(done + index))));
  }
  return results;
}

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

function expiry({ it, expect }: TestFramework, opened: () => OrderStore): void {
  it('expires the orders placed at or before that instant, of any account, each decided once with its animal', async () => {
    const { other, placed, animal, end, find, statusOf, orders } = opened();
    for (const outcome of OUTCOMES) await end((await placed()).id, outcome);
    const due = [await placed(later(NOON, -HOUR)), await placed(NOON, other)];
    const young = await placed(later(NOON, 1));
    const states = await Promise.all(due.map(async (order) => ({ order, animal: await animal(order.animalId) })));
    const at = later(NOON, HOUR);
    const asked: EndState[] = [];
    const expired = await orders.expire({ placedUntil: NOON, limit: 100 }, (state) => {
      asked.push(state);
      return decideExpiry(state, HOUR, at);
    });
    expect(asked).toHaveLength(2);
    expect(new Set(asked)).toEqual(new Set(states));
    expect(new Set(expired)).toEqual(new Set(due.map((order) => ({ ...order, status: 'expired', updatedAt: at }))));
    for (const order of expired) {
      expect(await find(order.id, order.accountId)).toEqual(order);
      expect(await statusOf(order.animalId)).toBe('available');
    }
    expect([await find(young.id), await statusOf(young.animalId)]).toEqual([young, 'pending']);
  });

  it('leaves an order that the decision leaves, and stores the events of the others, which it returns', async () => {
    const { placed, animal, find, eventsOf, orders } = opened();
    const [left, due] = [await placed(), await placed()];
    const expired: Order[] = [];
    const events = await eventsOf(async () => {
      const decide = (state: EndState) => (state.order?.id === left.id ? undefined : decideExpiry(state, 0, NOON));
      expired.push(...(await orders.expire({ placedUntil: NOON, limit: 10 }, decide)));
    });
    const data: Order = { ...due, status: 'expired' };
    expect(expired).toEqual([data]);
    const changed = { type: 'pet.changed', data: await animal(due.animalId) } as const;
    expect(events).toEqual(asStored({ type: 'order.expired', data }, changed));
    expect(await find(left.id)).toEqual(left);
  });

  it('changes nothing if a decision refuses, not even by those before it', async () => {
    const { placed, find, eventsOf, orders } = opened();
    const due = [await placed(), await placed()];
    let decisions = 0;
    const expiring = () =>
      orders.expire({ placedUntil: NOON, limit: 10 }, (state) => {
        decisions += 1;
        return decisions === 1 ? decideExpiry(state, 0, NOON) : refuse();
      });
    expect(await eventsOf(() => expect(expiring()).rejects.toBe(REFUSAL))).toEqual([]);
    for (const order of due) expect(await find(order.id)).toEqual(order);
  });

  it('expires the longest placed first, and no more than asked for', async () => {
    const { placed, expire } = opened();
    const due: Order[] = [];
    for (let index = 0; index < 5; index += 1) due.unshift(await placed(later(NOON, -index * MINUTE)));
    for (const expected of [due.slice(0, 2), due.slice(2, 4), due.slice(4), []])
      expect(sortedIdsOf(await expire(NOON, 2))).toEqual(sortedIdsOf(expected));
  });

  it('leaves out an order that another transaction has locked, and doesn’t wait for it', async () => {
    const { accountId, placed, expire, find, orders, transact } = opened();
    const [locked, free] = [await placed(later(NOON, -HOUR)), await placed()];
    const end = { by: accountId, id: locked.id, outcome: 'completed' } as const;
    const expired = await transact(async (transaction) => {
      await orders.change(locked.id, (state) => decideEnd(state, end, NOON), transaction);
      return expire(NOON);
    });
    expect(idsOf(expired)).toEqual([free.id]);
    expect((await find(locked.id))?.status).toBe('completed');
  });

  it('is shared by concurrent workers: every order expires, each once', async () => {
    const { placed, expire } = opened();
    const due = await someAtOnce(18, () => placed());
    const expired = await atOnce(6, () => expire(NOON, 3));
    for (const some of expired) expect(some.length).toBeLessThanOrEqual(3);
    const left = await expire(NOON);
    expect(sortedIdsOf([...expired.flat(), ...left])).toEqual(sortedIdsOf(due));
  });
}

function races({ it, expect }: TestFramework, opened: () => OrderStore): void {
  it('holds the animal while a change is decided: of many changes at once none is lost', async () => {
    const { animals, orders, placed, statusOf } = opened();
    const { id, animalId } = await placed();
    const turn = (animal: Animal): Animal => {
      const index = PET_STATUSES.indexOf(animal.status);
      return { ...animal, status: present(PET_STATUSES[(index + 1) % PET_STATUSES.length]) };
    };
    await atOnce(10, async (index) => {
      if (index % 2) await animals.change(animalId, ({ animal }) => eventless(turn(present(animal))));
      else
        await orders.change(id, (at) => ({ order: present(at.order), animal: turn(present(at.animal)), events: [] }));
    });
    // Each third turn ends where it began.
    expect(await statusOf(animalId)).toBe(turn({ status: 'pending' } as Animal).status);
  });

  it('counts the orders of an account one after another, however many it places at once', async () => {
    const { accountId, addAnimal, place, statusOf, orders } = opened();
    const animals = await atOnce(20, () => addAnimal());
    const { reasons } = await race(20, (index) => place(present(animals[index]), NOON, accountId, 7));
    expect(reasons).toHaveLength(13);
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_orders' });
    expect(await orders.list({ accountId, status: 'placed', limit: 100 })).toHaveLength(7);
    const statuses = await Promise.all(animals.map((id) => statusOf(id)));
    expect(statuses.filter((status) => status === 'available')).toHaveLength(13);
  });

  it('places one of 20 concurrent orders for one animal', async () => {
    const { accountId, other, addAnimal, place, statusOf } = opened();
    const animalId = await addAnimal();
    const { values, reasons } = await race(20, (index) => place(animalId, NOON, index % 2 ? accountId : other));
    expect(values.map((order) => order.animalId)).toEqual([animalId]);
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'pet_not_available' });
    expect(await statusOf(animalId)).toBe('pending');
  });

  it('ends an order once, the animal’s status matches, and no caller fails because of the others’ locks', async () => {
    const { placed, expire, end, find, statusOf } = opened();
    for (let round = 0; round < 3; round += 1) {
      const { id, animalId } = await placed();
      const { values, reasons } = await race<Order | undefined>(10, async (index) =>
        index % 3 === 2 ? (await expire(NOON))[0] : end(id, present(OUTCOMES[(index + round) % OUTCOMES.length])),
      );
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'order_final' });
      const ended = values.filter((value) => value !== undefined);
      expect(ended).toEqual([await find(id)]);
      expect(await statusOf(animalId)).toBe(ended[0]?.status === 'completed' ? 'sold' : 'available');
    }
  });

  it('ends an order, orders its animal again, edits and withdraws it as if one did after another', async () => {
    const { animals, other, placed, place, end, find } = opened();
    for (let round = 0; round < 6; round += 1) {
      const { id, animalId } = await placed();
      const edit = { id: animalId, change: { name: 'Milo' } };
      const done = { isPlaced: false, isWithdrawn: false };
      const racers = [
        () => end(id, 'cancelled'),
        () => animals.change(animalId, (state) => decideChange(state, edit)),
        () => place(animalId, NOON, other).then(() => (done.isPlaced = true)),
        async () => {
          await animals.withdraw(animalId, NOON, (state) => decideWithdrawal(state, edit));
          done.isWithdrawn = true;
        },
      ];
      const { reasons } = await race<unknown>(4, (index) => present(racers[(index + round) % 4])());
      for (const reason of reasons)
        expect(['not_found', 'order_in_progress', 'pet_not_available']).toContain((reason as DomainError).code);
      expect(await find(id)).toMatchObject({ status: 'cancelled' });
      expect(done.isPlaced && done.isWithdrawn).toBe(false);
      const status = done.isPlaced ? 'pending' : 'available';
      const left = done.isWithdrawn ? undefined : { id: animalId, name: 'Milo', categoryId: 1n, status };
      expect(await animals.findById(animalId)).toEqual(left);
    }
  });
}

type OrderStore = Awaited<ReturnType<typeof openOrderStore>>;

/** Two accounts of a store, and their orders. */
async function openOrderStore(ports: Pick<Ports, OrderPorts>, unique: Unique) {
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
