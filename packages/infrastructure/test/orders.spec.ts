import { ask, expectDatabaseErrors } from '@adoption-store/test-support';
import { randomUUID } from 'node:crypto';
import {
  type AccountId,
  type AnimalId,
  decideEnd,
  decideExpiry,
  decidePlacement,
  type EndState,
  HOUR,
  instant,
  INT64_MAX,
  INT64_MIN,
  later,
  newAnimal,
  type Order,
  type PetStatus,
  type Ports,
  PLANS,
} from '@adoption-store/domain';
import { orderRepositorySuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { TypeOrmOrderRepository } from '../src/orders/typeorm-order-repository.js';
import { type Database, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';
import { nextTurn } from './limits.counters.js';

// An order of an unknown account, and an animal that a constraint of the test holds.
expectDatabaseErrors('23503', '23514');

orderRepositorySuite(framework, 'PostgreSQL', openPostgres);

const noon = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

type Store = Pick<Ports, 'accounts' | 'animals' | 'orders'>;

/** Wraps a decision, to see what it is given. */
type Look = <Result>(decide: (state: EndState) => Result) => (state: EndState) => Result;

async function openAccount({ accounts }: Store): Promise<AccountId> {
  return (
    await accounts.open({
      email: `${randomUUID()}@example.com`,
      plan: PLANS.free,
      scopes: undefined,
      createdAt: noon,
    })
  ).id;
}

async function addAnimal({ animals }: Store): Promise<AnimalId> {
  return (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).id;
}

function place({ orders }: Store, accountId: AccountId, animalId: AnimalId): Promise<Order> {
  const placement = { accountId, animalId, limit: Infinity };
  return orders.place(placement, (state) => decidePlacement(state, placement, noon));
}

function complete({ orders }: Store, { accountId, id }: Order): Promise<Order> {
  return orders.change(id, (state) => decideEnd(state, { accountId, id, outcome: 'completed' }, noon));
}

function expire({ orders }: Store): Promise<readonly Order[]> {
  return orders.expire({ placedUntil: noon, limit: 10 }, (state) => decideExpiry(state, 0, noon));
}

async function statusOf({ animals }: Store, id: AnimalId): Promise<PetStatus | undefined> {
  return (await animals.findById(id))?.status;
}

const idsOf = (orders: readonly Order[]) => orders.map(({ id }) => id);

describe('an order repository (PostgreSQL), whatever goes wrong', () => {
  let database: Database;
  let store: Store;
  let accountId: AccountId;
  beforeAll(async () => {
    database = await openDatabase();
    const { dataSource } = database;
    store = {
      accounts: new TypeOrmAccountRepository(dataSource),
      animals: new TypeOrmAnimalRepository(dataSource),
      orders: new TypeOrmOrderRepository(dataSource),
    };
    accountId = await openAccount(store);
  });
  afterAll(() => database.close());

  it('leaves the animal available when the order can’t be stored', async () => {
    const animalId = await addAnimal(store);
    await expect(place(store, INT64_MAX as AccountId, animalId)).rejects.toThrow('foreign key');
    expect(await statusOf(store, animalId)).toBe('available');
  });

  it.each(['placed', 'completed'] as const)(
    'places no second order beside one that is %s, though the animal was made available by hand',
    async (status) => {
      const animalId = await addAnimal(store);
      const order = await place(store, accountId, animalId);
      await database.dataSource.query('UPDATE orders SET status = $1 WHERE id = $2', [status, order.id]);
      await database.dataSource.query(`UPDATE animals SET status = 'available' WHERE id = $1`, [animalId]);
      await expect(place(store, accountId, animalId)).rejects.toMatchObject({ code: 'pet_not_available' });
      expect(await statusOf(store, animalId)).toBe('available');
    },
  );

  it('leaves the order placed when the animal can’t be changed', async () => {
    const animalId = await addAnimal(store);
    const order = await place(store, accountId, animalId);
    await ask(database.url, `ALTER TABLE animals ADD CONSTRAINT stuck CHECK (id <> ${animalId}) NOT VALID`);
    await expect(complete(store, order)).rejects.toThrow('stuck');
    await expect(expire(store)).rejects.toThrow('stuck');
    await ask(database.url, 'ALTER TABLE animals DROP CONSTRAINT stuck');
    expect(await store.orders.findById(accountId, order.id)).toEqual(order);
    expect(await statusOf(store, animalId)).toBe('pending');
  });

  it('leaves an animal alone that was ordered again while the end of its old order waited', async () => {
    const { dataSource } = database;
    const animalId = await addAnimal(store);
    const old = await place(store, accountId, animalId);
    const { completing } = await dataSource.transaction(async (manager) => {
      await manager.query(`UPDATE orders SET status = 'cancelled' WHERE id = $1`, [old.id]);
      await manager.query(`UPDATE animals SET status = 'available' WHERE id = $1`, [animalId]);
      const waiting = { completing: complete(store, old).catch((error: unknown) => error) };
      while (!(await isWaiting())) await nextTurn();
      await manager.query(`UPDATE animals SET status = 'pending' WHERE id = $1`, [animalId]);
      await manager.query(
        `INSERT INTO orders (account_id, animal_id, status, created_at, updated_at) VALUES ($1, $2, 'placed', $3, $3)`,
        [accountId, animalId, new Date(later(noon, HOUR))],
      );
      return waiting;
    });
    expect(await completing).toMatchObject({ code: 'order_final' });
    expect(await statusOf(store, animalId)).toBe('pending');
  });

  it.each([
    [
      'ends',
      ({ orders }: Store, { id, accountId }: Order, look: Look) =>
        orders.change(
          id,
          look((state) => decideEnd(state, { accountId, id, outcome: 'completed' }, noon)),
        ),
    ],
    [
      'expires',
      ({ orders }: Store, _order: Order, look: Look) =>
        orders.expire(
          { placedUntil: noon, limit: 10 },
          look((state) => decideExpiry(state, 0, noon)),
        ),
    ],
  ])('an order that %s is decided with its animal as the transaction before has left it', async (_how, end) => {
    const { dataSource } = database;
    await expire(store);
    const order = await place(store, accountId, await addAnimal(store));
    const names: unknown[] = [];
    const ending = await dataSource.transaction(async (manager) => {
      await manager.query(`UPDATE animals SET name = 'Milo' WHERE id = $1`, [order.animalId]);
      const waiting = {
        done: end(store, order, (decide) => (state) => {
          names.push(state.animal?.name);
          return decide(state);
        }),
      };
      while (!(await isWaiting())) await nextTurn();
      return waiting;
    });
    await ending.done;
    expect(names).toEqual(['Milo']);
  });

  async function isWaiting(): Promise<boolean> {
    const rows = await database.dataSource.query<unknown[]>(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }

  it('lists the order with the smallest id that the column can hold', async () => {
    const [animalId, owner] = [await addAnimal(store), await openAccount(store)];
    await database.dataSource.query(
      `INSERT INTO orders (id, account_id, animal_id, status, created_at, updated_at)
      VALUES ($1, $2, $3, 'placed', $4, $4)`,
      [INT64_MIN, owner, animalId, new Date(noon)],
    );
    for (const status of [undefined, 'placed'] as const)
      expect(idsOf(await store.orders.list({ accountId: owner, status, limit: 10 }))).toEqual([INT64_MIN]);
  });

  it('never expires an order that is just being ended, and doesn’t wait for it', async () => {
    const [one, two] = [await addAnimal(store), await addAnimal(store)];
    const held = await place(store, accountId, one);
    const due = await place(store, accountId, two);
    await database.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM orders WHERE id = $1 FOR UPDATE', [held.id]);
      const expired = await expire(store);
      expect(idsOf(expired)).toContain(due.id);
      expect(idsOf(expired)).not.toContain(held.id);
    });
    expect(idsOf(await expire(store))).toEqual([held.id]);
  });
});
