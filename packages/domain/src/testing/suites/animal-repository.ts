import {
  type Animal,
  type AnimalId,
  type AnimalState,
  type CategoryId,
  newAnimal,
  PET_STATUSES,
} from '../../animals/animal.js';
import type { AnimalRepository } from '../../animals/animal-repository.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { checkDrawn, Draws } from './draws.js';
import { atOnce, eventless, NOON, outcomes, REFUSAL } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

/** The guarantees of every `AnimalRepository`. */
export function animalRepositorySuite(framework: TestFramework, name: string, open: Open<'animals'>): void {
  const { describe, it, beforeAll, afterAll, expect, random } = framework;
  describe(`an animal repository (${name})`, () => {
    const draws = new Draws(random);
    let opened: Opened<'animals'>;
    let animals: AnimalRepository;
    beforeAll(async () => {
      opened = await open();
      animals = opened.ports.animals;
    });
    afterAll(() => opened.close());

    const add = (input: Partial<Parameters<typeof newAnimal>[0]> = {}) =>
      animals.add(newAnimal({ name: 'Luna', categoryId: 1n, ...input }));
    const idsOf = (found: readonly Animal[]) => found.map(({ id }) => id);

    it('returns the stored animal under a new id', async () => {
      const [one, other] = [await add({ name: ' Łuna 🐈 ', categoryId: INT64_MIN, status: 'sold' }), await add()];
      expect(one).toEqual({ id: one.id, name: ' Łuna 🐈 ', categoryId: INT64_MIN, status: 'sold' });
      expect(typeof one.id).toBe('bigint');
      expect(other.id).not.toBe(one.id);
      expect(await animals.findById(one.id)).toEqual(one);
    });

    it('returns undefined for an unknown animal', async () => {
      expect(await animals.findById(INT64_MAX as AnimalId)).toBeUndefined();
      expect(await animals.findById(-1n as AnimalId)).toBeUndefined();
    });

    it('keeps every int64 and every name exactly', async () => {
      const draw = () => ({ name: draws.name(50), categoryId: draws.int64() });
      await checkDrawn(10, draw, async (drawn) => {
        const { id } = await add(drawn);
        expect(await animals.findById(id)).toEqual({ id, ...drawn, status: 'available' });
      });
    });

    it('gives each of many concurrent readers the page it asked for: ascending, by every filter, no more than asked for', async () => {
      const categories = [INT64_MIN, -1_000n, 1_000n, INT64_MAX] as CategoryId[];
      const added = await atOnce(40, () =>
        add({ categoryId: draws.pick(categories), status: draws.pick(PET_STATUSES) }),
      );
      const all = await animals.list({ limit: 1_000 });
      expect(new Set(all.slice(-added.length))).toEqual(new Set(added));
      expect(idsOf(all)).toEqual(idsOf(all).sort((one, other) => (one < other ? -1 : 1)));
      const place = () => (draws.isOneOf(2) ? draws.pick(idsOf(all)) : undefined);
      const unknown = { id: INT64_MAX as AnimalId, categoryId: 4_711n as CategoryId };
      const drawQuery = () => {
        const [after, before] = draws.isOneOf(2) ? [place(), undefined] : [undefined, place()];
        const categoryIds = () => draws.many(0, 6, () => draws.pick([...categories, unknown.categoryId]));
        const ids = () => draws.many(0, 30, () => draws.pick([...idsOf(added), unknown.id]));
        return {
          status: draws.isOneOf(3) ? undefined : draws.pick(PET_STATUSES),
          categoryIds: draws.isOneOf(2) ? undefined : categoryIds(),
          ids: draws.isOneOf(2) ? undefined : ids(),
          after,
          before,
          limit: draws.integer(1, 50),
        };
      };
      const draw = () => draws.many(1, 20, drawQuery);
      await checkDrawn(10, draw, async (queries) => {
        const pages = await Promise.all(queries.map((query) => animals.list(query)));
        const expected = queries.map(({ status, categoryIds, ids, after, before, limit }) => {
          const matching = all
            .filter((animal) => (status ?? animal.status) === animal.status)
            .filter(({ categoryId }) => categoryIds?.includes(categoryId) ?? true)
            .filter(({ id }) => ids?.includes(id) ?? true)
            .filter(({ id }) => (after === undefined || id > after) && (before === undefined || id < before));
          return before === undefined ? matching.slice(0, limit) : matching.slice(-limit);
        });
        expect(pages).toEqual(expected);
      });
    });

    it('gives each of many concurrent callers a new animal', async () => {
      const added = await atOnce(50, (index) => add({ name: `racer ${index}` }));
      expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `racer ${index}`));
      expect(new Set(idsOf(added)).size).toBe(50);
      expect(await animals.list({ ids: idsOf(added), limit: 100 })).toHaveLength(50);
    });

    it('returns every animal that existed throughout exactly once in a walk by pages, whatever is added meanwhile', async () => {
      const there = await atOnce(60, () => add({ status: 'pending' }));
      let isWalking = true;
      const adding = atOnce(4, async () => {
        while (isWalking) await add({ status: 'pending' });
      });
      const walked: AnimalId[] = [];
      let after: AnimalId | undefined;
      do {
        const page = await animals.list({ status: 'pending', after, limit: 7 });
        walked.push(...idsOf(page));
        after = page.at(-1)?.id;
      } while (after !== undefined && walked.length < 1_000);
      isWalking = false;
      await adding;
      expect(new Set(walked).size).toBe(walked.length);
      expect(idsOf(there).filter((id) => !walked.includes(id))).toEqual([]);
    });

    it('hands the animal to a change and a withdrawal, or says that there is none, and changes nothing if they refuse', async () => {
      const luna = await add({ name: ' Łuna 🐈 ', categoryId: INT64_MIN, status: 'sold' });
      const cases = [
        { id: luna.id, animal: luna },
        { id: INT64_MAX as AnimalId, animal: undefined },
      ];
      for (const { id, animal } of cases) {
        const states: AnimalState[] = [];
        const refuse = (state: AnimalState) => {
          states.push(state);
          throw REFUSAL;
        };
        await expect(animals.change(id, refuse)).rejects.toBe(REFUSAL);
        await expect(animals.withdraw(id, NOON, refuse)).rejects.toBe(REFUSAL);
        expect(states).toEqual([
          { animal, isOrdered: false },
          { animal, isOrdered: false },
        ]);
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
        const { values, reasons } = outcomes(await Promise.allSettled(Array.from({ length: 10 }, () => withdraw(id))));
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
