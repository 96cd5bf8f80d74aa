import type { AnimalId } from '../../animals/animal.js';
import type { OrderOutcome } from '../../orders/order.js';
import { atOnce, NOON } from './fixtures.js';
import type { TestFramework } from './framework.js';
import { isOrder, type OrderStore, OUTCOMES, petStatusAfter } from './order-store.js';

/** The guarantees of every `OrderRepository` whose callers race each other. */
export function orderRaces({ it, expect }: TestFramework, opened: () => OrderStore): void {
  it('places one of 50 concurrent orders for one animal, in every round', async () => {
    const store = opened();
    for (let round = 0; round < 40; round++) {
      const animalId = await store.addAnimal();
      const racers = await atOnce(50, (index) =>
        store.place(animalId, NOON, index % 2 ? store.accountId : store.other),
      );
      const [won, ...more] = racers.filter(isOrder);
      expect([won?.animalId, more]).toEqual([animalId, []]);
      expect(await store.statusOf(animalId)).toBe('pending');
    }
  });

  it('places one order for each animal of a race', async () => {
    const store = opened();
    const animals = await atOnce(20, () => store.addAnimal());
    const racers = await atOnce(200, (index) => store.place(animals[(index * 7) % 20] ?? (0n as AnimalId)));
    const won = racers.filter(isOrder);
    expect(new Set(won.map(({ animalId }) => animalId))).toEqual(new Set(animals));
    expect(won).toHaveLength(20);
  });

  it('ends an order once, and the animal’s status matches', async () => {
    const store = opened();
    for (let round = 0; round < 60; round++) {
      const { id, animalId } = await store.placed();
      const racers = await Promise.all([
        ...[0, 1, 2].flatMap((turn) =>
          OUTCOMES.map((_, index) => store.end(id, OUTCOMES[(index + turn + round) % 3] ?? 'expired')),
        ),
        store.expire(NOON).then(([order]) => order),
      ]);
      const [won, ...more] = racers.filter(isOrder);
      expect([won?.id, more]).toEqual([id, []]);
      expect(await store.find(id)).toEqual(won);
      expect(await store.statusOf(animalId)).toBe(petStatusAfter[won?.status as OrderOutcome]);
    }
  });

  it('cancels or expires an order, never both', async () => {
    const store = opened();
    for (let round = 0; round < 60; round++) {
      const { id, animalId } = await store.placed();
      const cancel = () => store.end(id, 'cancelled');
      const letExpire = async () => (await store.expire(NOON))[0];
      const racers = await Promise.all((round % 2 ? [cancel, letExpire] : [letExpire, cancel]).map((race) => race()));
      const [won, ...more] = racers.filter(isOrder);
      expect([won?.id, more]).toEqual([id, []]);
      expect(await store.find(id)).toEqual(won);
      expect(await store.statusOf(animalId)).toBe('available');
    }
  });

  it('never sells an animal by a cancelled order, even while others wait for it', async () => {
    const store = opened();
    for (let round = 0; round < 60; round++) {
      const { id, animalId } = await store.placed();
      const [again] = await Promise.all([
        atOnce(6, () => store.place(animalId, NOON, store.other)),
        store.end(id, 'cancelled'),
        store.end(id, 'completed'),
      ]);
      const won = again.filter(isOrder);
      const { status } = (await store.find(id)) ?? {};
      expect(won.length).toBeLessThanOrEqual(status === 'cancelled' ? 1 : 0);
      const live = won.length > 0 ? 'pending' : petStatusAfter[status as OrderOutcome];
      expect(await store.statusOf(animalId)).toBe(live);
    }
  });
}
