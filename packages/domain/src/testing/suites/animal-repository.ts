import { type Animal, type AnimalId, newAnimal, PET_STATUSES } from '../../animals/animal.js';
import type { AnimalRepository } from '../../animals/animal-repository.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { checkDrawn, Draws } from './draws.js';
import { atOnce } from './fixtures.js';
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

    it('keeps what was added, though the caller’s object changes afterwards', async () => {
      const input = { ...newAnimal({ name: 'Luna', categoryId: 1n }) };
      const { id } = await animals.add(input);
      Object.assign(input, { name: 'Milo', status: 'sold' });
      expect(await animals.findById(id)).toEqual({ id, name: 'Luna', categoryId: 1n, status: 'available' });
    });

    it('returns undefined for an unknown animal', async () => {
      expect(await animals.findById(INT64_MAX as AnimalId)).toBeUndefined();
      expect(await animals.findById(-1n as AnimalId)).toBeUndefined();
    });

    it('keeps every int64 and every name exactly', async () => {
      const named = (text: string) => (text.trim() === '' ? `${text}Luna` : text);
      const draw = () => ({ name: named(draws.text(50)), categoryId: draws.int64() });
      await checkDrawn(50, draw, async (drawn) => {
        const { id } = await add(drawn);
        expect(await animals.findById(id)).toEqual({ id, ...drawn, status: 'available' });
      });
    });

    it('lists by status, by ids and after an id, ascending and no more than asked for', async () => {
      const added: Animal[] = [];
      for (let index = 0; index < 12; index += 1) added.push(await add({ status: PET_STATUSES[index % 3] }));
      const first = added[0]?.id ?? (0n as AnimalId);
      const before = (first - 1n) as AnimalId;
      const available = added.filter(({ status }) => status === 'available');

      expect(await animals.list({ after: before, limit: 100 })).toEqual(added);
      expect(await animals.list({ after: before, limit: 5 })).toEqual(added.slice(0, 5));
      expect(await animals.list({ after: first, limit: 5 })).toEqual(added.slice(1, 6));
      expect(await animals.list({ after: before, status: 'available', limit: 100 })).toEqual(available);
      expect(await animals.list({ after: before, status: 'available', limit: 2 })).toEqual(available.slice(0, 2));

      const some = [added[7], added[2], added[2], added[5]].flatMap((animal) => animal?.id ?? []);
      const wanted = [added[2], added[5], added[7]];
      expect(await animals.list({ ids: [...some, INT64_MAX as AnimalId], limit: 100 })).toEqual(wanted);
      expect(await animals.list({ ids: some, status: 'sold', limit: 100 })).toEqual(
        wanted.filter((animal) => animal?.status === 'sold'),
      );
      expect(await animals.list({ ids: some, after: added[2]?.id, limit: 1 })).toEqual([added[5]]);
      expect(await animals.list({ ids: [], limit: 100 })).toEqual([]);
    });

    it('gives each of many concurrent readers the page it asked for', async () => {
      const added: Animal[] = [];
      for (let index = 0; index < 30; index += 1) added.push(await add({ status: PET_STATUSES[index % 3] }));
      const query = () => ({
        status: draws.isOneOf(4) ? undefined : draws.pick(PET_STATUSES),
        after: draws.pick(idsOf(added)),
        limit: draws.integer(1, 40),
      });
      const draw = () => draws.many(1, 80, query);
      await checkDrawn(30, draw, async (queries) => {
        const pages = await Promise.all(queries.map((query) => animals.list(query)));
        const expected = queries.map(({ status, after, limit }) =>
          added.filter((animal) => animal.id > after && (status ?? animal.status) === animal.status).slice(0, limit),
        );
        expect(pages).toEqual(expected);
      });
    });

    it('gives each of many concurrent callers a new animal', async () => {
      const added = await atOnce(200, (index) => add({ name: `racer ${index}` }));
      expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `racer ${index}`));
      expect(new Set(idsOf(added)).size).toBe(200);
      const found = await animals.list({ ids: idsOf(added), limit: 300 });
      expect(new Set(found.map(({ name }) => name)).size).toBe(200);
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
  });
}
