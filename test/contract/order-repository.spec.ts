import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AccountId,
  type AnimalId,
  HOUR,
  INT64_MAX,
  type Instant,
  instant,
  later,
  MINUTE,
  newAnimal,
  type Order,
  ORDER_STATUSES,
  type OrderId,
  type OrderOutcome,
  type OrderRepository,
  PET_STATUSES,
  type PetStatus,
  type Ports,
} from '@adoption-store/domain';
import {
  TypeOrmAccountRepository,
  PostgresAnimalRepository,
  TypeOrmOrderRepository,
} from '@adoption-store/infrastructure/testing';
import { type Adapters, everyAdapter } from './adapters.js';
import { type Database, nextTurn, openDatabase } from './request-counters.js';

const noon = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const OUTCOMES = ['completed', 'cancelled', 'expired'] as const satisfies readonly OrderOutcome[];
const petStatusAfter: Record<OrderOutcome, PetStatus> = {
  completed: 'sold',
  cancelled: 'available',
  expired: 'available',
};

type Store = Pick<Ports, 'accounts' | 'animals' | 'orders'>;

async function openAccount({ accounts }: Store): Promise<AccountId> {
  return (await accounts.open({ email: `${randomUUID()}@example.com`, plan: { name: 'free' }, createdAt: noon })).id;
}

async function addAnimal({ animals }: Store, status?: PetStatus): Promise<AnimalId> {
  return (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n, status }))).id;
}

async function statusOf({ animals }: Store, id: AnimalId): Promise<PetStatus | undefined> {
  return (await animals.findById(id))?.status;
}

const manyTimes = <Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)));
const isOrder = (order: Order | undefined): order is Order => order !== undefined;
const idsOf = (orders: readonly Order[]) => orders.map(({ id }) => id);
const sortedIdsOf = (orders: readonly Order[]) => idsOf(orders).sort((one, other) => (one < other ? -1 : 1));

describe.each(everyAdapter)('an order repository (%s)', (_name, open) => {
  let adapters: Adapters;
  let store: Store;
  let orders: OrderRepository;
  let accountId: AccountId;
  let other: AccountId;
  beforeAll(async () => {
    adapters = await open();
    store = adapters.ports;
    orders = store.orders;
  });
  beforeEach(async () => {
    [accountId, other] = [await openAccount(store), await openAccount(store)];
  });
  // Expiry covers all accounts, so no order of one test may be due in the next.
  afterEach(() => expire(later(noon, 1_000 * HOUR), 1_000));
  afterAll(() => adapters.close());

  const place = (animalId: AnimalId, createdAt = noon, by = accountId) =>
    orders.place({ accountId: by, animalId, createdAt });
  const end = (id: OrderId, outcome: OrderOutcome, at = later(noon, MINUTE), by = accountId) =>
    orders.end({ accountId: by, id, outcome, at });
  const expire = (placedUntil: Instant, limit = 100, at = later(noon, HOUR)) =>
    orders.expire({ placedUntil, at, limit });
  /** Places an order for a new animal. */
  async function placed(createdAt = noon, by = accountId): Promise<Order> {
    const order = await place(await addAnimal(store), createdAt, by);
    if (order === undefined) throw new Error('the animal is not available');
    return order;
  }

  it('returns the placed order under a new id, and reserves the animal', async () => {
    const [animalId, bystander] = [await addAnimal(store), await addAnimal(store)];
    const order = await place(animalId);
    expect(order).toEqual({
      id: order?.id,
      accountId,
      animalId,
      status: 'placed',
      createdAt: noon,
      updatedAt: noon,
    });
    expect(typeof order?.id).toBe('bigint');
    expect(await orders.findById(accountId, order?.id ?? (0n as OrderId))).toEqual(order);
    expect(await statusOf(store, animalId)).toBe('pending');
    expect(await statusOf(store, bystander)).toBe('available');
    expect((await place(bystander))?.id).not.toBe(order?.id);
  });

  it.each(PET_STATUSES.filter((status) => status !== 'available'))(
    'places no order for an animal that is %s, and changes nothing',
    async (status) => {
      const animalId = await addAnimal(store, status);
      expect(await place(animalId)).toBeUndefined();
      expect(await statusOf(store, animalId)).toBe(status);
      expect(await orders.list({ accountId, limit: 1 })).toEqual([]);
    },
  );

  it('places no order for an unknown animal', async () => {
    expect(await place(INT64_MAX as AnimalId)).toBeUndefined();
    expect(await place(-1n as AnimalId)).toBeUndefined();
    expect(await orders.list({ accountId, limit: 1 })).toEqual([]);
  });

  it.each(OUTCOMES)('ends an order as %s, and its animal changes with it', async (outcome) => {
    const [order, bystander] = [await placed(), await placed()];
    const at = later(noon, 5 * MINUTE);
    const ended = { ...order, status: outcome, updatedAt: at };
    expect(await end(order.id, outcome, at)).toEqual(ended);
    expect(await orders.findById(accountId, order.id)).toEqual(ended);
    expect(await statusOf(store, order.animalId)).toBe(petStatusAfter[outcome]);
    expect(await orders.findById(accountId, bystander.id)).toEqual(bystander);
    expect(await statusOf(store, bystander.animalId)).toBe('pending');
  });

  it.each(OUTCOMES)('ends no order that has been %s already, and changes nothing', async (outcome) => {
    const { id, animalId } = await placed();
    const ended = await end(id, outcome);
    for (const again of OUTCOMES) expect(await end(id, again, later(noon, HOUR))).toBeUndefined();
    expect(await expire(later(noon, HOUR))).toEqual([]);
    expect(await orders.findById(accountId, id)).toEqual(ended);
    expect(await statusOf(store, animalId)).toBe(petStatusAfter[outcome]);
  });

  it('ends no unknown order', async () => {
    expect(await end(INT64_MAX as OrderId, 'cancelled')).toBeUndefined();
    expect(await orders.findById(accountId, INT64_MAX as OrderId)).toBeUndefined();
    expect(await orders.findById(accountId, -1n as OrderId)).toBeUndefined();
  });

  it('accepts a new order for an animal after a cancelled one, and none once it is sold', async () => {
    const animalId = await addAnimal(store);
    for (const outcome of ['cancelled', 'expired', 'completed'] as const) {
      const order = await place(animalId);
      expect(order && (await end(order.id, outcome))?.status).toBe(outcome);
    }
    expect(await place(animalId)).toBeUndefined();
    expect((await orders.list({ accountId, limit: 10 })).map(({ status }) => status)).toEqual([
      'cancelled',
      'expired',
      'completed',
    ]);
  });

  it('hides another account’s order, and never changes it', async () => {
    const order = await placed();
    expect(await orders.findById(other, order.id)).toBeUndefined();
    expect(await orders.list({ accountId: other, limit: 10 })).toEqual([]);
    for (const outcome of OUTCOMES) expect(await end(order.id, outcome, noon, other)).toBeUndefined();
    expect(await place(order.animalId, noon, other)).toBeUndefined();
    expect(await orders.findById(accountId, order.id)).toEqual(order);
    expect(await statusOf(store, order.animalId)).toBe('pending');
  });

  it('lists an account’s orders by status and after an id, ascending and no more than asked for', async () => {
    const all: Order[] = [];
    for (let index = 0; index < 12; index++) {
      const order = await placed(later(noon, -index * MINUTE));
      await placed(noon, other);
      const status = ORDER_STATUSES[index % 4] ?? 'placed';
      all.push(status === 'placed' ? order : ((await end(order.id, status)) ?? order));
    }
    const [first, second] = idsOf(all);
    expect(await orders.list({ accountId, limit: 100 })).toEqual(all);
    expect(await orders.list({ accountId, limit: 5 })).toEqual(all.slice(0, 5));
    expect(await orders.list({ accountId, after: second, limit: 5 })).toEqual(all.slice(2, 7));
    expect(await orders.list({ accountId, after: all.at(-1)?.id, limit: 5 })).toEqual([]);
    for (const status of ORDER_STATUSES) {
      const matching = all.filter((order) => order.status === status);
      expect(await orders.list({ accountId, status, limit: 100 })).toEqual(matching);
      expect(await orders.list({ accountId, status, limit: 2 })).toEqual(matching.slice(0, 2));
    }
    expect(await orders.list({ accountId, status: 'placed', after: first, limit: 1 })).toEqual([all[4]]);
  });

  it('returns every order that existed throughout exactly once in a walk by pages, whatever happens meanwhile', async () => {
    const there = await manyTimes(60, () => placed());
    let isWalking = true;
    const placing = manyTimes(4, async () => {
      while (isWalking) {
        const { id } = await placed();
        await end(id, 'cancelled');
        await new Promise(setImmediate);
      }
    });
    const walked: OrderId[] = [];
    let after: OrderId | undefined;
    do {
      const page = await orders.list({ accountId, after, limit: 7 });
      walked.push(...idsOf(page));
      after = page.at(-1)?.id;
    } while (after !== undefined && walked.length < 1_000);
    isWalking = false;
    await placing;
    expect(new Set(walked).size).toBe(walked.length);
    expect(walked).toEqual(expect.arrayContaining(idsOf(there)));
  });

  describe('expiry', () => {
    it('expires orders placed at or before that instant, of any account, and no later ones', async () => {
      const due = [await placed(later(noon, -HOUR)), await placed(noon), await placed(noon, other)];
      const young = await placed(later(noon, 1));
      const at = later(noon, HOUR);
      const expired = await expire(noon, 100, at);
      expect([...expired].sort((one, another) => (one.id < another.id ? -1 : 1))).toEqual(
        due.map((order) => ({ ...order, status: 'expired', updatedAt: at })),
      );
      for (const order of expired) {
        expect(await orders.findById(order.accountId, order.id)).toEqual(order);
        expect(await statusOf(store, order.animalId)).toBe('available');
      }
      expect(await orders.findById(accountId, young.id)).toEqual(young);
      expect(await statusOf(store, young.animalId)).toBe('pending');
      expect(await expire(noon)).toEqual([]);
    });

    it('expires the oldest first, and no more than asked for', async () => {
      const due: Order[] = [];
      for (let index = 0; index < 5; index++) due.push(await placed(later(noon, index * MINUTE)));
      expect(sortedIdsOf(await expire(later(noon, HOUR), 2))).toEqual(idsOf(due.slice(0, 2)));
      expect(sortedIdsOf(await expire(later(noon, HOUR), 2))).toEqual(idsOf(due.slice(2, 4)));
      expect(sortedIdsOf(await expire(later(noon, HOUR), 2))).toEqual(idsOf(due.slice(4)));
    });

    it('is shared by concurrent workers: every order expires, each once', async () => {
      const due = await manyTimes(100, () => placed());
      const expired = await manyTimes(20, () => expire(noon, 10));
      for (const some of expired) expect(some.length).toBeLessThanOrEqual(10);
      const left = await expire(noon);
      expect(sortedIdsOf([...expired.flat(), ...left])).toEqual(sortedIdsOf(due));
    });
  });

  describe('a limit of orders placed at a time', () => {
    const placeAtMost = (animalId: AnimalId, mostPlaced: number, by = accountId) =>
      orders.place({ accountId: by, animalId, createdAt: noon }, mostPlaced);

    it('admits exactly that many of concurrent orders for different animals, and reserves no other animal', async () => {
      const animals = await manyTimes(40, () => addAnimal(store));
      const racers = await Promise.allSettled(animals.map((animalId) => placeAtMost(animalId, 7)));
      const refused = racers.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
      expect(refused).toHaveLength(33);
      for (const each of refused) expect(each).toMatchObject({ code: 'too_many_orders', kind: 'conflict' });
      expect(await orders.list({ accountId, status: 'placed', limit: 100 })).toHaveLength(7);
      const statuses = await Promise.all(animals.map((id) => statusOf(store, id)));
      expect(statuses.filter((status) => status === 'available')).toHaveLength(33);
    });

    it.each(OUTCOMES)('has room again once an order is %s', async (outcome) => {
      const { id } = await placed();
      const animalId = await addAnimal(store);
      await expect(placeAtMost(animalId, 1)).rejects.toMatchObject({ code: 'too_many_orders' });
      await end(id, outcome);
      expect(await placeAtMost(animalId, 1)).toMatchObject({ animalId });
    });

    it('is each account’s own', async () => {
      await placed();
      expect(await placeAtMost(await addAnimal(store), 1, other)).toMatchObject({ accountId: other });
    });
  });

  describe('under a race', () => {
    it('places one of 50 concurrent orders for one animal, in every round', async () => {
      for (let round = 0; round < 40; round++) {
        const animalId = await addAnimal(store);
        const racers = await manyTimes(50, (index) => place(animalId, noon, index % 2 ? accountId : other));
        const [won, ...more] = racers.filter(isOrder);
        expect([won?.animalId, more]).toEqual([animalId, []]);
        expect(await statusOf(store, animalId)).toBe('pending');
      }
    });

    it('places one order for each animal of a race', async () => {
      const animals = await manyTimes(20, () => addAnimal(store));
      const racers = await manyTimes(200, (index) => place(animals[(index * 7) % 20] ?? (0n as AnimalId)));
      const won = racers.filter(isOrder);
      expect(new Set(won.map(({ animalId }) => animalId))).toEqual(new Set(animals));
      expect(won).toHaveLength(20);
    });

    it('ends an order once, and the animal’s status matches', async () => {
      for (let round = 0; round < 60; round++) {
        const { id, animalId } = await placed();
        const racers = await Promise.all([
          ...[0, 1, 2].flatMap((turn) =>
            OUTCOMES.map((_, index) => end(id, OUTCOMES[(index + turn + round) % 3] ?? 'expired')),
          ),
          expire(noon).then(([order]) => order),
        ]);
        const [won, ...more] = racers.filter(isOrder);
        expect([won?.id, more]).toEqual([id, []]);
        expect(await orders.findById(accountId, id)).toEqual(won);
        expect(await statusOf(store, animalId)).toBe(petStatusAfter[won?.status as OrderOutcome]);
      }
    });

    it('cancels or expires an order, never both', async () => {
      for (let round = 0; round < 60; round++) {
        const { id, animalId } = await placed();
        const cancel = () => end(id, 'cancelled');
        const letExpire = async () => (await expire(noon))[0];
        const racers = await Promise.all((round % 2 ? [cancel, letExpire] : [letExpire, cancel]).map((race) => race()));
        const [won, ...more] = racers.filter(isOrder);
        expect([won?.id, more]).toEqual([id, []]);
        expect(await orders.findById(accountId, id)).toEqual(won);
        expect(await statusOf(store, animalId)).toBe('available');
      }
    });

    it('never sells an animal by a cancelled order, even while others wait for it', async () => {
      for (let round = 0; round < 60; round++) {
        const { id, animalId } = await placed();
        const [again] = await Promise.all([
          manyTimes(6, () => place(animalId, noon, other)),
          end(id, 'cancelled'),
          end(id, 'completed'),
        ]);
        const won = again.filter(isOrder);
        const { status } = (await orders.findById(accountId, id)) ?? {};
        expect(won.length).toBeLessThanOrEqual(status === 'cancelled' ? 1 : 0);
        const live = won.length > 0 ? 'pending' : petStatusAfter[status as OrderOutcome];
        expect(await statusOf(store, animalId)).toBe(live);
      }
    });
  });
});

describe('an order repository (PostgreSQL), whatever goes wrong', () => {
  let database: Database;
  let store: Store;
  let accountId: AccountId;
  beforeAll(async () => {
    database = await openDatabase();
    const { dataSource } = database;
    store = {
      accounts: new TypeOrmAccountRepository(dataSource),
      animals: new PostgresAnimalRepository(dataSource),
      orders: new TypeOrmOrderRepository(dataSource),
    };
    accountId = await openAccount(store);
  });
  afterAll(() => database.close());

  it('leaves the animal available when the order can’t be stored', async () => {
    const animalId = await addAnimal(store);
    const order = { accountId: INT64_MAX as AccountId, animalId, createdAt: noon };
    await expect(store.orders.place(order)).rejects.toThrow('foreign key');
    expect(await statusOf(store, animalId)).toBe('available');
  });

  it.each(['placed', 'completed'] as const)(
    'places no second order beside one that is %s, though the animal was made available by hand',
    async (status) => {
      const animalId = await addAnimal(store);
      const order = await store.orders.place({ accountId, animalId, createdAt: noon });
      await database.dataSource.query('UPDATE orders SET status = $1 WHERE id = $2', [status, order?.id]);
      await database.dataSource.query(`UPDATE animals SET status = 'available' WHERE id = $1`, [animalId]);
      expect(await store.orders.place({ accountId, animalId, createdAt: noon })).toBeUndefined();
      expect(await statusOf(store, animalId)).toBe('available');
    },
  );

  it('leaves the order placed when the animal can’t be changed', async () => {
    const animalId = await addAnimal(store);
    const order = await store.orders.place({ accountId, animalId, createdAt: noon });
    const { id } = order ?? { id: 0n as OrderId };
    await database.dataSource.query(`ALTER TABLE animals ADD CONSTRAINT stuck CHECK (id <> ${animalId}) NOT VALID`);
    await expect(store.orders.end({ accountId, id, outcome: 'completed', at: noon })).rejects.toThrow('stuck');
    await expect(store.orders.expire({ placedUntil: noon, at: noon, limit: 10 })).rejects.toThrow('stuck');
    await database.dataSource.query('ALTER TABLE animals DROP CONSTRAINT stuck');
    expect(await store.orders.findById(accountId, id)).toEqual(order);
    expect(await statusOf(store, animalId)).toBe('pending');
  });

  it('leaves an animal alone that was ordered again while the end of its old order waited', async () => {
    const { dataSource } = database;
    const animalId = await addAnimal(store);
    const old = await store.orders.place({ accountId, animalId, createdAt: noon });
    const { id } = old ?? { id: 0n as OrderId };
    const { completing } = await dataSource.transaction(async (manager) => {
      await manager.query(`UPDATE orders SET status = 'cancelled' WHERE id = $1`, [id]);
      await manager.query(`UPDATE animals SET status = 'available' WHERE id = $1`, [animalId]);
      const waiting = { completing: store.orders.end({ accountId, id, outcome: 'completed', at: noon }) };
      while (!(await isWaiting())) await nextTurn();
      await manager.query(`UPDATE animals SET status = 'pending' WHERE id = $1`, [animalId]);
      await manager.query(
        `INSERT INTO orders (account_id, animal_id, status, created_at, updated_at) VALUES ($1, $2, 'placed', $3, $3)`,
        [accountId, animalId, new Date(later(noon, HOUR))],
      );
      return waiting;
    });
    expect(await completing).toBeUndefined();
    expect(await statusOf(store, animalId)).toBe('pending');

    async function isWaiting(): Promise<boolean> {
      const rows = await dataSource.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    }
  });

  it('never expires an order that is just being ended, and doesn’t wait for it', async () => {
    const [one, two] = [await addAnimal(store), await addAnimal(store)];
    const held = await store.orders.place({ accountId, animalId: one, createdAt: noon });
    const due = await store.orders.place({ accountId, animalId: two, createdAt: noon });
    await database.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM orders WHERE id = $1 FOR UPDATE', [held?.id]);
      const expired = await store.orders.expire({ placedUntil: noon, at: noon, limit: 10 });
      expect(idsOf(expired)).toContain(due?.id);
      expect(idsOf(expired)).not.toContain(held?.id);
    });
    expect(idsOf(await store.orders.expire({ placedUntil: noon, at: noon, limit: 10 }))).toEqual([held?.id]);
  });
});
