import { type Animal, decideChange, decideWithdrawal, PET_STATUSES } from '../../animals/animal.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import type { DomainError } from '../../kernel/errors.js';
import { decideEnd, decideExpiry, type EndState, type Order } from '../../orders/order.js';
import { asStored, atOnce, eventless, NOON, present, race, REFUSAL } from './fixtures.js';
import type { TestFramework } from './framework.js';
import { idsOf, type OrderStore, OUTCOMES, refuse, someAtOnce, sortedIdsOf } from './order-store.js';

/** What every `OrderRepository` guarantees about orders that expire. */
export function expiry({ it, expect }: TestFramework, opened: () => OrderStore): void {
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

/** What every `OrderRepository` guarantees, however many change orders and animals at once. */
export function races({ it, expect }: TestFramework, opened: () => OrderStore): void {
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
