import { ask, expectDatabaseErrors } from '@adoption-store/test-support';
import {
  type AccountId,
  type AnimalId,
  decideEnd,
  decideExpiry,
  decidePlacement,
  type EndState,
  instant,
  INT64_MAX,
  newAnimal,
  type Order,
  type PetStatus,
  type Ports,
} from '@adoption-store/domain';
import { orderRepositorySuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { TypeOrmOrderRepository } from '../src/orders/typeorm-order-repository.js';
import { type Database, openAccount, openDatabase, openPostgres, untilBlocked } from './databases.js';
import { framework } from './framework.js';

// An order of an unknown account, and an animal that a constraint of the test holds.
expectDatabaseErrors('23503', '23514');

orderRepositorySuite(framework, 'PostgreSQL', openPostgres);

const noon = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

type Store = Pick<Ports, 'accounts' | 'animals' | 'orders'>;

async function addAnimal({ animals }: Store): Promise<AnimalId> {
  return (await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }))).id;
}

function place({ orders }: Store, accountId: AccountId, animalId: AnimalId): Promise<Order> {
  const placement = { accountId, animalId, limit: Infinity };
  return orders.place(placement, (state) => decidePlacement(state, placement, noon));
}

function complete({ orders }: Store, { accountId, id }: Order): Promise<Order> {
  return orders.change(id, (state) => decideEnd(state, { by: accountId, id, outcome: 'completed' }, noon));
}

function expire({ orders }: Store): Promise<readonly Order[]> {
  return orders.expire({ placedUntil: noon, limit: 10 }, (state) => decideExpiry(state, 0, noon));
}

async function statusOf({ animals }: Store, id: AnimalId): Promise<PetStatus | undefined> {
  return (await animals.findById(id))?.status;
}

describe('an order repository (PostgreSQL), whatever goes wrong', () => {
  let database: Database;
  let store: Store;
  let accountId: AccountId;
  beforeAll(async () => {
    database = await openDatabase();
    const { dataSource } = database;
    store = {
      accounts: new TypeOrmAccountRepository(dataSource),
      animals: new TypeOrmAnimalRepository(dataSource, 'open'),
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

  it.each([
    [
      'ends',
      ({ orders }: Store, { id, accountId }: Order, see: (state: EndState) => void) =>
        orders.change(id, (state) => {
          see(state);
          return decideEnd(state, { by: accountId, id, outcome: 'completed' }, noon);
        }),
    ],
    [
      'expires',
      ({ orders }: Store, _order: Order, see: (state: EndState) => void) =>
        orders.expire({ placedUntil: noon, limit: 10 }, (state) => {
          see(state);
          return decideExpiry(state, 0, noon);
        }),
    ],
  ])('an order that %s is decided with its animal as the transaction before has left it', async (_how, end) => {
    const { dataSource } = database;
    await expire(store);
    const order = await place(store, accountId, await addAnimal(store));
    const names: unknown[] = [];
    const ending = await dataSource.transaction(async (manager) => {
      await manager.query(`UPDATE animals SET name = 'Milo' WHERE id = $1`, [order.animalId]);
      const waiting = { done: end(store, order, (state) => names.push(state.animal?.name)) };
      await untilBlocked(database.url);
      return waiting;
    });
    await ending.done;
    expect(names).toEqual(['Milo']);
  });
});
