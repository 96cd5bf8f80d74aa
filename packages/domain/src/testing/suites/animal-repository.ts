import {
  type Animal,
  type AnimalId,
  animalVersion,
  type CategoryId,
  newAnimal,
  PET_STATUSES,
} from '../../animals/animal.js';
import type { AnimalRepository } from '../../animals/animal-repository.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { checkDrawn, Draws } from './draws.js';
import { atOnce, NOON, outcomes } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

/** The guarantees of every `AnimalRepository`. */
export function animalRepositorySuite(
  framework: TestFramework,
  name: string,
  open: Open<'animals' | 'cryptography'>,
): void {
  const { describe, it, beforeAll, afterAll, expect, random } = framework;
  describe(`an animal repository (${name})`, () => {
    const draws = new Draws(random);
    let opened: Opened<'animals' | 'cryptography'>;
    let animals: AnimalRepository;
    beforeAll(async () => {
      opened = await open();
      animals = opened.ports.animals;
    });
    afterAll(() => opened.close());

    const add = (input: Partial<Parameters<typeof newAnimal>[0]> = {}) =>
      animals.add(newAnimal({ name: 'Luna', categoryId: 1n, ...input }));
    const versionOf = (animal: Animal) => animalVersion(animal, (text) => opened.ports.cryptography.sha256(text));
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
      expect(await animals.list({ ids: some, before: added[7]?.id, limit: 1 })).toEqual([added[5]]);
    });

    it('lists what is before an id, as far as asked for, also by status and category', async () => {
      const added: Animal[] = [];
      const categoryId = 77_001n as CategoryId;
      for (let index = 0; index < 12; index += 1)
        added.push(await add({ status: PET_STATUSES[index % 3], categoryId }));
      for (const status of [undefined, ...PET_STATUSES])
        for (const categoryIds of [undefined, [categoryId]]) {
          const matching = added.filter((animal) => (status ?? animal.status) === animal.status);
          for (const place of [11, 10, 9]) {
            const expected = matching.filter(({ id }) => id < (added[place]?.id ?? 0n));
            const before = added[place]?.id;
            expect(await animals.list({ before, status, categoryIds, limit: 2 })).toEqual(expected.slice(-2));
          }
          expect(await animals.list({ before: added[0]?.id, status, categoryIds: [categoryId], limit: 2 })).toEqual([]);
        }
    });

    it('lists by categories, alone and with every other filter', async () => {
      // No other test has these.
      const categories = [INT64_MIN + 1_000n, -1_000n, 1_000n, INT64_MAX - 1_000n] as CategoryId[];
      const added = await atOnce(60, () =>
        add({ categoryId: draws.pick(categories), status: draws.pick(PET_STATUSES) }),
      );
      const all = await animals.list({ ids: idsOf(added), limit: 100 });
      const unknown = 4_711n as CategoryId;
      const draw = () => ({
        categoryIds: draws.many(0, 6, () => draws.pick([...categories, unknown])),
        status: draws.isOneOf(3) ? undefined : draws.pick(PET_STATUSES),
        ids: draws.isOneOf(2) ? undefined : draws.many(0, 30, () => draws.pick(idsOf(all))),
        after: draws.isOneOf(3) ? undefined : draws.pick(idsOf(all)),
        limit: draws.integer(1, 70),
      });
      await checkDrawn(100, draw, async ({ categoryIds, status, ids, after, limit }) => {
        const expected = all
          .filter((animal) => categoryIds.includes(animal.categoryId) && (status ?? animal.status) === animal.status)
          .filter(({ id }) => (ids?.includes(id) ?? true) && (after === undefined || id > after));
        expect(await animals.list({ categoryIds, status, ids, after, limit })).toEqual(expected.slice(0, limit));
      });
    });

    it('gives each of many concurrent readers the page it asked for', async () => {
      const added: Animal[] = [];
      for (let index = 0; index < 30; index += 1)
        added.push(await add({ status: PET_STATUSES[index % 3], categoryId: BigInt(100 + (index % 2)) }));
      const query = () => ({
        status: draws.isOneOf(4) ? undefined : draws.pick(PET_STATUSES),
        categoryIds: draws.isOneOf(2) ? undefined : draws.many(1, 2, () => draws.pick([100n, 101n] as CategoryId[])),
        after: draws.pick(idsOf(added)),
        limit: draws.integer(1, 40),
      });
      const draw = () => draws.many(1, 80, query);
      await checkDrawn(30, draw, async (queries) => {
        const pages = await Promise.all(queries.map((query) => animals.list(query)));
        const expected = queries.map(({ status, categoryIds, after, limit }) =>
          added
            .filter((animal) => animal.id > after && (status ?? animal.status) === animal.status)
            .filter(({ categoryId }) => categoryIds?.includes(categoryId) ?? true)
            .slice(0, limit),
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

    it('changes the given fields, and leaves the others and other animals as they are', async () => {
      const [luna, bystander] = [await add({ name: 'Luna' }), await add()];
      const named = { ...luna, name: ' Łuna 🐈 ' };
      expect(await animals.change(luna.id, { name: named.name })).toEqual(named);
      const moved = { ...named, categoryId: INT64_MIN as CategoryId, status: 'pending' };
      expect(await animals.change(luna.id, { categoryId: moved.categoryId, status: 'pending' })).toEqual(moved);
      expect(await animals.findById(luna.id)).toEqual(moved);
      expect(await animals.list({ ids: [luna.id], status: 'available', limit: 1 })).toEqual([]);
      expect(await animals.findById(bystander.id)).toEqual(bystander);
    });

    for (const from of PET_STATUSES)
      for (const to of PET_STATUSES) {
        const isAllowed = from === to || (from !== 'sold' && to !== 'sold');
        it(`${isAllowed ? 'changes' : 'refuses to change'} the status from ${from} to ${to}, with the name`, async () => {
          const animal = await add({ status: from });
          const change = animals.change(animal.id, { name: 'Milo', status: to });
          if (isAllowed) expect(await change).toEqual({ ...animal, name: 'Milo', status: to });
          else await expect(change).rejects.toMatchObject({ code: 'invalid_transition' });
          const expected = isAllowed ? { ...animal, name: 'Milo', status: to } : animal;
          expect(await animals.findById(animal.id)).toEqual(expected);
        });
      }

    it('changes and withdraws nothing if the animal is unknown, whatever the wanted version', async () => {
      for (const versions of [undefined, ['another']]) {
        expect(await animals.change(INT64_MAX as AnimalId, { name: 'Milo' }, versions)).toBeUndefined();
        expect(await animals.withdraw(INT64_MAX as AnimalId, NOON, versions)).toBe(false);
      }
    });

    it('changes and withdraws an animal only in a version that is wanted', async () => {
      const named = (text: string) => (text.trim() === '' ? `${text}Luna` : text);
      const draw = () => ({ name: named(draws.text(50)), categoryId: draws.int64(), status: draws.pick(PET_STATUSES) });
      await checkDrawn(50, draw, async (drawn) => {
        const animal = await add(drawn);
        const others = [versionOf({ ...animal, name: `${animal.name}.` }), 'another'];
        for (const versions of [[], others]) {
          await expect(animals.change(animal.id, { name: 'Milo' }, versions)).rejects.toMatchObject({
            code: 'precondition_failed',
          });
          await expect(animals.withdraw(animal.id, NOON, versions)).rejects.toMatchObject({
            code: 'precondition_failed',
          });
        }
        expect(await animals.findById(animal.id)).toEqual(animal);
        const changed = await animals.change(animal.id, { name: 'Milo' }, [...others, versionOf(animal)]);
        expect(changed).toEqual({ ...animal, name: 'Milo' });
        expect(await animals.withdraw(animal.id, NOON, [versionOf({ ...animal, name: 'Milo' })])).toBe(true);
      });
    });

    it('lets one of many concurrent changes of the same version happen, so that none is lost', async () => {
      for (let round = 0; round < 20; round += 1) {
        const animal = await add();
        const changes = Array.from({ length: 20 }, (_, index) =>
          animals.change(animal.id, { name: `racer ${index}` }, [versionOf(animal)]),
        );
        const { values, reasons } = outcomes(await Promise.allSettled(changes));
        expect(values).toHaveLength(1);
        for (const reason of reasons) expect(reason).toMatchObject({ code: 'precondition_failed' });
        expect(await animals.findById(animal.id)).toEqual(values[0]);
      }
    });

    it('never finds or lists a withdrawn animal, and never gives its id again', async () => {
      const [luna, bystander] = [await add({ status: 'sold' }), await add()];
      expect(await animals.withdraw(luna.id, NOON)).toBe(true);
      expect(await animals.withdraw(luna.id, NOON)).toBe(false);
      expect(await animals.change(luna.id, { name: 'Milo' })).toBeUndefined();
      expect(await animals.findById(luna.id)).toBeUndefined();
      expect(await animals.list({ ids: [luna.id, bystander.id], limit: 2 })).toEqual([bystander]);
      expect(await animals.list({ after: (luna.id - 1n) as AnimalId, limit: 1 })).toEqual([bystander]);
      expect((await add()).id > bystander.id).toBe(true);
    });

    it('withdraws an animal once, however many do so at once', async () => {
      for (let round = 0; round < 20; round += 1) {
        const { id } = await add();
        const withdrawn = await atOnce(10, () => animals.withdraw(id, NOON));
        expect(withdrawn.filter(Boolean)).toHaveLength(1);
      }
    });

    it('shows every reader that begins after a change or a withdrawal what has become of the animal', async () => {
      const { id } = await add();
      const readers = () =>
        atOnce(16, async (index) =>
          index % 2 ? [await animals.findById(id)] : animals.list({ after: (id - 1n) as AnimalId, limit: 1 }),
        );
      for (let round = 0; round < 60; round += 1) {
        // Those of the round before still read while the animal changes.
        const before = readers();
        const changed = await animals.change(id, { name: `Luna ${round}` });
        for (const read of await readers()) expect(read).toEqual([changed]);
        await before;
      }
      const before = readers();
      await animals.withdraw(id, NOON);
      for (const read of await readers()) expect(read[0]?.id === id).toBe(false);
      await before;
    });
  });
}
