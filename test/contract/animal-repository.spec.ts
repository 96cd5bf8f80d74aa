import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Animal,
  type AnimalId,
  type AnimalRepository,
  INT64_MAX,
  INT64_MIN,
  newAnimal,
  PET_STATUSES,
} from '@adoption-store/domain';
import { openDataSource, PostgresAnimalRepository } from '@adoption-store/infrastructure/testing';
import fc from 'fast-check';
import { type Adapters, everyAdapter, openPostgres } from './adapters.js';

/** The repository without the sharing of concurrent calls. */
async function openUncoalesced(): Promise<Adapters> {
  const postgres = await openPostgres();
  const dataSource = await openDataSource({ connectionString: postgres.url, max: 20 });
  return {
    ports: { ...postgres.ports, animals: new PostgresAnimalRepository(dataSource) },
    async close() {
      await dataSource.destroy();
      await postgres.close();
    },
  };
}

describe.each([...everyAdapter, ['PostgreSQL, each by itself', openUncoalesced] as const])(
  'an animal repository (%s)',
  (_name, open) => {
    let adapters: Adapters;
    let animals: AnimalRepository;
    beforeAll(async () => {
      adapters = await open();
      animals = adapters.ports.animals;
    });
    afterAll(() => adapters.close());

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
      await fc.assert(
        fc.asyncProperty(
          fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }),
          async (categoryId, text) => {
            const name = text.replace(/\p{Surrogate}|\0/gu, '?');
            fc.pre(name.trim() !== '');
            const { id } = await add({ name, categoryId });
            expect(await animals.findById(id)).toEqual({ id, name, categoryId, status: 'available' });
          },
        ),
        { numRuns: 50 },
      );
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
      const pageOf = fc.record({
        status: fc.constantFrom(undefined, ...PET_STATUSES),
        after: fc.constantFrom(...idsOf(added)),
        limit: fc.integer({ min: 1, max: 40 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(pageOf, { minLength: 1, maxLength: 80 }), async (queries) => {
          const pages = await Promise.all(queries.map((query) => animals.list(query)));
          const expected = queries.map(({ status, after, limit }) =>
            added.filter((animal) => animal.id > after && (status ?? animal.status) === animal.status).slice(0, limit),
          );
          expect(pages).toEqual(expected);
        }),
        { numRuns: 30 },
      );
    });

    it('gives each of many concurrent callers a new animal', async () => {
      const added = await Promise.all(Array.from({ length: 200 }, (_, index) => add({ name: `racer ${index}` })));
      expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `racer ${index}`));
      expect(new Set(idsOf(added)).size).toBe(200);
      const found = await animals.list({ ids: idsOf(added), limit: 300 });
      expect(new Set(found.map(({ name }) => name)).size).toBe(200);
    });

    it('returns every animal that existed throughout exactly once in a walk by pages, whatever is added meanwhile', async () => {
      const there = await Promise.all(Array.from({ length: 60 }, () => add({ status: 'pending' })));
      let isWalking = true;
      const adding = Array.from({ length: 4 }, async () => {
        while (isWalking) {
          await add({ status: 'pending' });
          await new Promise(setImmediate);
        }
      });
      const walked: AnimalId[] = [];
      let after: AnimalId | undefined;
      do {
        const page = await animals.list({ status: 'pending', after, limit: 7 });
        walked.push(...idsOf(page));
        after = page.at(-1)?.id;
      } while (after !== undefined && walked.length < 1_000);
      isWalking = false;
      await Promise.all(adding);
      expect(new Set(walked).size).toBe(walked.length);
      expect(walked).toEqual(expect.arrayContaining(idsOf(there)));
    });
  },
);
