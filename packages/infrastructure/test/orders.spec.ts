import { randomUUID } from 'node:crypto';
import {
  type AccountId,
  type AnimalId,
  HOUR,
  instant,
  INT64_MAX,
  INT64_MIN,
  later,
  newAnimal,
  type Order,
  type OrderId,
  type PetStatus,
  type Ports,
} from '@adoption-store/domain';
import { orderRepositorySuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { PostgresAnimalRepository } from '../src/animals/postgres-animal-repository.js';
import { TypeOrmOrderRepository } from '../src/orders/typeorm-order-repository.js';
import { type Database, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';
import { nextTurn } from './request-counters.js';

orderRepositorySuite(framework, 'PostgreSQL', openPostgres);

const noon = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

type Store = Pick<Ports, 'accounts' | 'animals' | 'orders'>;

async function openAccount({ accounts }: Store): Promise<AccountId> {
  return (
    await accounts.open({
      email: `${randomUUID()}@example.com`,
      plan: { name: 'free' },
      scopes: undefined,
      createdAt: noon,
    })
  ).id;
}

async function addAnimal({ animals }: Store): Promise<AnimalId> {
  return (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).id;
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
