import {
  type Animal,
  type AnimalId,
  type CategoryId,
  type Fields,
  newAnimal,
  type NewAnimal,
  PET_STATUSES,
} from '../../animals/animal.js';
import type { AnimalQuery, AnimalRepository } from '../../animals/animal-repository.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { atOnce, eventless, NOON, openBefore, present, race, REFUSAL, stateOf } from './fixtures.js';
import type { Open, TestFramework } from './framework.js';
import { INTEGERS, TEXTS } from './samples.js';

/** The guarantees of every `AnimalRepository`. */
export function animalRepositorySuite(framework: TestFramework, name: string, open: Open<'animals'>): void {
  const { describe, it, expect } = framework;
  describe(`an animal repository (${name})`, () => {
    let animals: AnimalRepository;
    openBefore(framework, open, ({ ports }) => {
      animals = ports.animals;
    });

    const add = (input: Partial<Parameters<typeof newAnimal>[0]> = {}) =>
      animals.add(newAnimal({ name: 'Luna', categoryId: 1n, ...input }));
    const idsOf = (found: readonly Animal[]) => found.map(({ id }) => id);

    it('keeps every int64, every name and every status exactly', async () => {
      const other = { name: 'Milo', categoryId: -1n, status: 'sold' } as const satisfies Fields<NewAnimal>;
      for (const input of [
        other,
        ...INTEGERS.map((categoryId) => ({ categoryId })),
        ...TEXTS.map((text) => ({ name: text })),
        ...PET_STATUSES.map((status) => ({ status })),
      ]) {
        const added = await add(input);
        expect(typeof added.id).toBe('bigint');
        expect(added).toEqual({ id: added.id, name: 'Luna', categoryId: 1n, status: 'available', ...input });
        expect(await animals.findById(added.id)).toEqual(added);
      }
    });

    it('gives each of many concurrent readers the page it asked for: ascending, by every filter, no more than asked for', async () => {
      const categories = [INT64_MIN, -1_000n, 1_000n, INT64_MAX] as CategoryId[];
      const added = await atOnce(40, (index) =>
        add({ categoryId: present(categories[index % 4]), status: PET_STATUSES[index % 3] }),
      );
      const all = await animals.list({ limit: 1_000 });
      expect(new Set(all.slice(-added.length))).toEqual(new Set(added));
      expect(idsOf(all)).toEqual(idsOf(all).sort((one, other) => (one < other ? -1 : 1)));
      const some = [...idsOf(added).filter((_, index) => index % 2 === 0), INT64_MAX as AnimalId];
      const unknown = 4_711n as CategoryId;
      const places = [{}, ...idsOf(all.slice(-30)).flatMap((id) => [{ after: id }, { before: id }])];
      for (const status of [undefined, 'available', 'pending'] as const)
        for (const categoryIds of [undefined, [], [unknown, ...categories.slice(0, 2)]])
          for (const ids of [undefined, [], some]) {
            const queries = places.map((place, index) => ({ status, categoryIds, ids, limit: 1 + index, ...place }));
            const pages = await Promise.all(queries.map((query) => animals.list(query)));
            const matching = all
              .filter((animal) => (status ?? animal.status) === animal.status)
              .filter(({ categoryId }) => categoryIds?.includes(categoryId) ?? true)
              .filter(({ id }) => ids?.includes(id) ?? true);
            const expected = queries.map(({ after, before, limit }: AnimalQuery) =>
              before === undefined
                ? matching.filter(({ id }) => after === undefined || id > after).slice(0, limit)
                : matching.filter(({ id }) => id < before).slice(-limit),
            );
            expect(pages).toEqual(expected);
          }
    });

    it('gives each of many concurrent callers a new animal', async () => {
      const added = await atOnce(50, (index) => add({ name: `racer ${index}` }));
      expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `racer ${index}`));
      expect(new Set(idsOf(added)).size).toBe(50);
      expect(await animals.list({ ids: idsOf(added), limit: 100 })).toHaveLength(50);
    });

    it('hands the animal to a change and a withdrawal, or says that there is none, and changes nothing if they refuse', async () => {
      const luna = await add({ name: ' Łuna 🐈 ', categoryId: INT64_MIN, status: 'sold' });
      for (const [id, animal] of [
        [luna.id, luna],
        [INT64_MAX as AnimalId, undefined],
        [-1n as AnimalId, undefined],
      ] as const) {
        const state = { animal, isOrdered: false };
        expect(await stateOf((refuse) => animals.change(id, refuse))).toEqual(state);
        expect(await stateOf((refuse) => animals.withdraw(id, NOON, refuse))).toEqual(state);
        expect(await animals.findById(id)).toEqual(animal);
      }
    });

    it('stores and returns what a change makes of the animal, and leaves others as they are', async () => {
      const [luna, bystander] = [await add(), await add()];
      const changed = { ...luna, name: ' Łuna 🐈 ', categoryId: INT64_MIN as CategoryId, status: 'sold' } as const;
      expect(await animals.change(luna.id, () => eventless(changed))).toEqual(changed);
      expect(await animals.findById(luna.id)).toEqual(changed);
      expect(await animals.list({ ids: [luna.id], status: 'available', limit: 1 })).toEqual([]);
      expect(await animals.findById(bystander.id)).toEqual(bystander);
    });

    it('decides about an animal one after another, however many do so at once, so that no change is lost', async () => {
      const { id } = await add({ name: '0' });
      await atOnce(30, () =>
        animals.change(id, ({ animal }) => {
          if (animal === undefined) throw REFUSAL;
          return eventless({ ...animal, name: String(Number(animal.name) + 1) });
        }),
      );
      expect(await animals.findById(id)).toMatchObject({ name: '30' });
    });

    const withdraw = (id: AnimalId) =>
      animals.withdraw(id, NOON, ({ animal }) => {
        if (animal === undefined) throw REFUSAL;
        return eventless(animal);
      });

    it('never finds or lists a withdrawn animal, and never gives its id again', async () => {
      const [luna, bystander] = [await add({ status: 'sold' }), await add()];
      await withdraw(luna.id);
      await expect(withdraw(luna.id)).rejects.toBe(REFUSAL);
      expect(await animals.findById(luna.id)).toBeUndefined();
      expect(await animals.list({ ids: [luna.id, bystander.id], limit: 2 })).toEqual([bystander]);
      expect(await animals.list({ after: (luna.id - 1n) as AnimalId, limit: 1 })).toEqual([bystander]);
      expect((await add()).id > bystander.id).toBe(true);
    });

    it('withdraws an animal once, however many do so at once', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { id } = await add();
        const { values, reasons } = await race(10, () => withdraw(id));
        expect(values).toHaveLength(1);
        for (const reason of reasons) expect(reason).toBe(REFUSAL);
      }
    });

    it('shows every reader that begins after a change or a withdrawal what has become of the animal', async () => {
      const { id } = await add();
      const readers = () =>
        atOnce(16, async (index) =>
          index % 2 ? [await animals.findById(id)] : animals.list({ after: (id - 1n) as AnimalId, limit: 1 }),
        );
      for (let round = 0; round < 15; round += 1) {
        // Those of the round before still read while the animal changes.
        const before = readers();
        const changed: Animal = { id, name: `Luna ${round}`, categoryId: 1n as CategoryId, status: 'available' };
        await animals.change(id, () => eventless(changed));
        for (const read of await readers()) expect(read).toEqual([changed]);
        await before;
      }
      const before = readers();
      await withdraw(id);
      for (const read of await readers()) expect(read[0]?.id === id).toBe(false);
      await before;
    });
  });
}
