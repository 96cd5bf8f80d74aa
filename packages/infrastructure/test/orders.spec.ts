import { ask, connectTo, expectDatabaseErrors } from '@adoption-store/test-support';
import {
  type AccountId,
  decideEnd,
  decideExpiry,
  decidePlacement,
  type EndState,
  instant,
  INT64_MAX,
  newAnimal,
  type Order,
} from '@adoption-store/domain';
import { orderRepositorySuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openAccount, openPostgres, untilBlocked } from './databases.js';
import { framework } from './framework.js';

// An order of an unknown account, and an animal that a constraint of the test holds.
expectDatabaseErrors('23503', '23514');

orderRepositorySuite(framework, 'PostgreSQL', openPostgres);

const noon = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

describe('an order repository (PostgreSQL), whatever goes wrong', () => {
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  let order: Order;
  beforeAll(async () => {
    opened = await openPostgres();
  });
  beforeEach(async () => {
    order = await place(await openAccount(opened.ports));
  });
  afterAll(() => opened.close());

  async function place(accountId: AccountId): Promise<Order> {
    const { animals, orders } = opened.ports;
    const { id: animalId } = await animals.add(newAnimal({ name: 'Luna', categoryId: 1n }));
    const placement = { accountId, animalId, limit: Infinity };
    return orders.place(placement, (state) => decidePlacement(state, placement, noon));
  }
  const animalOf = ({ animalId }: Order) => opened.ports.animals.findById(animalId);

  it('leaves the animal available when the order can’t be stored', async () => {
    const placing = place(INT64_MAX as AccountId);
    await expect(placing).rejects.toThrow('foreign key');
    expect(await opened.ports.animals.list({ limit: 9, after: order.animalId })).toMatchObject([
      { status: 'available' },
    ]);
  });

  describe.each<[string, (see: (state: EndState) => void) => Promise<unknown>]>([
    [
      'ends',
      (see) =>
        opened.ports.orders.change(order.id, (state) => {
          see(state);
          return decideEnd(state, { by: order.accountId, id: order.id, outcome: 'completed' }, noon);
        }),
    ],
    [
      'expires',
      (see) =>
        opened.ports.orders.expire({ placedUntil: noon, limit: 10 }, (state) => {
          see(state);
          return decideExpiry(state, 0, noon);
        }),
    ],
  ])('an order that %s', (_how, end) => {
    it('stays placed when its animal can’t be changed', async () => {
      await ask(opened.url, `ALTER TABLE animals ADD CONSTRAINT stuck CHECK (id <> ${order.animalId}) NOT VALID`);
      await expect(end(() => undefined)).rejects.toThrow('stuck');
      await ask(opened.url, 'ALTER TABLE animals DROP CONSTRAINT stuck');
      expect(await opened.ports.orders.findById(order.accountId, order.id)).toEqual(order);
      expect(await animalOf(order)).toMatchObject({ status: 'pending' });
      await end(() => undefined);
    });

    it('is decided with its animal as the transaction before has left it', async () => {
      const other = await connectTo(opened.url);
      await other.query('BEGIN');
      await other.query(`UPDATE animals SET name = 'Milo' WHERE id = $1`, [order.animalId]);
      const names: unknown[] = [];
      const ending = end(({ animal }) => names.push(animal?.name));
      await untilBlocked(opened.url);
      await other.query('COMMIT');
      await ending;
      await other.end();
      expect(names).toEqual(['Milo']);
    });
  });
});
