import { type Animal, type AnimalId, type CategoryId, newAnimal, type NewAnimalInput } from '../../animals/animal.js';
import { type AnimalToImport, MOST_REPORTED } from '../../animals/animal-importer.js';
import type { CategoryPolicy } from '../../categories/category.js';
import { AddCategory, DeleteCategory } from '../../categories/use-cases.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { asStored, atOnce, eventless, NOON, openBefore, openedAnimals } from './fixtures.js';
import type { Opened, OpenedAnimals, TestFramework } from './framework.js';
import { INTEGERS, TEXTS } from './samples.js';

type Needed = 'accounts' | 'animals' | 'animalImporter' | 'categories' | 'events' | 'idempotency' | 'orders';
type Row = Partial<NewAnimalInput> & { readonly line?: number; readonly id?: bigint };

/** The guarantees of every `AnimalImporter`. */
export function animalImporterSuite(
  framework: TestFramework,
  name: string,
  open: (categories?: CategoryPolicy) => Promise<Opened<Needed>>,
): void {
  const { describe, it, expect } = framework;
  describe(`an animal importer (${name})`, () => {
    let ports: Opened<Needed>['ports'];
    let opened: OpenedAnimals;
    const openUnderAny = () => open();
    openBefore(framework, openUnderAny, async (adapters) => {
      ports = adapters.ports;
      opened = await openedAnimals(adapters);
    });

    const add = (animal = 'added') => ports.animals.add(newAnimal({ name: animal, categoryId: 1n }));
    async function* inParts(rows: readonly Row[]): AsyncGenerator<readonly AnimalToImport[]> {
      const all = rows.map(({ line, id, ...row }, index) => ({
        line: line ?? index + 1,
        id: id as AnimalId | undefined,
        animal: newAnimal({ name: 'imported', categoryId: 1n, ...row }),
      }));
      for (let from = 0; from < all.length; from += 2) yield all.slice(from, from + 2);
    }
    const importAll = (rows: readonly Row[], isWanted = true) =>
      ports.animalImporter.importAll(inParts(rows), () => isWanted);
    const after = (id: bigint, limit = 1_000) => ports.animals.list({ after: id as AnimalId, limit });
    const namesOf = (animals: readonly Pick<Animal, 'name'>[]) => animals.map(({ name: animal }) => animal);
    const none = { first: [], count: 0 };

    it('stores every animal, those without an id under new ones in their order', async () => {
      const { id } = await add();
      const kept = id + 5n;
      const outcome = await importAll([
        { name: 'first', categoryId: INT64_MIN, status: 'sold' },
        { name: 'kept', id: kept },
        { name: 'second', categoryId: INT64_MAX, status: 'pending' },
        { name: 'third' },
      ]);
      const stored = await after(id);
      const [, first, second, third] = stored;
      expect(stored).toEqual([
        { id: kept, name: 'kept', categoryId: 1n, status: 'available' },
        { id: first?.id, name: 'first', categoryId: INT64_MIN, status: 'sold' },
        { id: second?.id, name: 'second', categoryId: INT64_MAX, status: 'pending' },
        { id: third?.id, name: 'third', categoryId: 1n, status: 'available' },
      ]);
      expect(outcome).toEqual({ refused: none, newIds: [first?.id, third?.id] });
      const named = { prefix: 'third', limit: 10, most: 10 };
      expect((await ports.animals.listByName(named)).animals).toEqual([third]);
    });

    it('stores the event of each animal, and none of an import that isn’t stored', async () => {
      const { length } = await opened.storedEvents();
      const { id } = await add();
      const rows = [{ id: id + 7n }, ...TEXTS.map((text) => ({ name: text })), { categoryId: INT64_MIN }];
      await importAll(rows, false);
      await importAll(rows);
      expect((await importAll(rows)).refused.count).toBe(1);
      const stored = await ports.animals.list({ after: (id - 1n) as AnimalId, limit: 1_000 });
      expect(stored).toHaveLength(rows.length + 1);
      const expected = asStored(...stored.map((data) => ({ type: 'pet.added', data }) as const));
      expect((await opened.storedEvents()).slice(length)).toEqual(expected);
    });

    it('asks whether it is wanted once, after the last part, and not if a row is refused', async () => {
      const { id } = await add();
      const asked: string[] = [];
      async function* parts(rows: readonly Row[]) {
        yield* inParts(rows);
        asked.push('the end');
      }
      const isWanted = () => asked.push('is it wanted') > 0;
      for (const rows of [[{}, {}, {}], []]) {
        await ports.animalImporter.importAll(parts(rows), isWanted);
        expect(asked.splice(0)).toEqual(['the end', 'is it wanted']);
      }
      await ports.animalImporter.importAll(parts([{ id }]), isWanted);
      expect(asked).toEqual(['the end']);
    });

    it('keeps every int64 and every name exactly', async () => {
      const { id } = await add();
      await importAll([...TEXTS.map((text) => ({ name: text })), ...INTEGERS.map((categoryId) => ({ categoryId }))]);
      const stored = await after(id);
      expect(namesOf(stored.slice(0, TEXTS.length))).toEqual(TEXTS);
      expect(stored.slice(TEXTS.length).map(({ categoryId }) => categoryId)).toEqual(INTEGERS);
    });

    it('gives animals that are added later other ids', async () => {
      const { id } = await add();
      await importAll([{ id: id + 1n }, { id: id + 100n }, { id: id + 2n }]);
      const later = await add();
      expect(later.id > id + 100n).toBe(true);
      expect(await importAll([{ id: id + 50n }])).toEqual({ refused: none, newIds: undefined });
      const last = await add();
      expect(last.id > later.id).toBe(true);
      const ids = (await after(id)).map((animal) => animal.id);
      expect(ids).toEqual([id + 1n, id + 2n, id + 50n, id + 100n, later.id, last.id]);
    });

    it('stores nothing if an id is taken, and names each row', async () => {
      const withdrawn = await add();
      const { id } = await add();
      await ports.animals.withdraw(withdrawn.id, NOON, () => eventless(withdrawn));
      const outcome = await importAll([
        { line: 2, name: 'one' },
        { line: 3, id: id + 7n },
        { line: 4, id: id + 7n },
        { line: 5, id: withdrawn.id },
        { line: 8, id },
        { line: 9, id: id + 7n },
      ]);
      expect(outcome).toEqual({
        newIds: undefined,
        refused: {
          count: 4,
          first: [
            { line: 4, reason: `id ${id + 7n} is that of the animal in line 3` },
            { line: 5, reason: `id ${withdrawn.id} is that of a withdrawn animal` },
            { line: 8, reason: `id ${id} is that of another animal` },
            { line: 9, reason: `id ${id + 7n} is that of the animal in line 3` },
          ],
        },
      });
      expect(await after(id)).toEqual([]);
    });

    it(`names the first ${MOST_REPORTED} refused rows and counts all`, async () => {
      const { id } = await add();
      const { refused } = await importAll(Array.from({ length: MOST_REPORTED + 1 }, () => ({ id })));
      expect([refused.count, refused.first.length]).toEqual([MOST_REPORTED + 1, MOST_REPORTED]);
      expect(refused.first.at(-1)?.line).toBe(MOST_REPORTED);
    });

    it('leaves nothing behind if it isn’t wanted, not even a gap in the ids', async () => {
      const { id } = await add();
      expect(await importAll([{}, { id: id + 1_000n }, {}], false)).toEqual({ refused: none, newIds: undefined });
      expect((await importAll([{ id }], false)).refused.count).toBe(1);
      expect(await after(id)).toEqual([]);
      expect((await add()).id).toBe(id + 1n);
    });

    it('stores nothing if the rows can’t be read to their end', async () => {
      const { id } = await add();
      async function* broken() {
        yield* inParts([{}, {}, { id: id + 3n }]);
        throw new Error('the file is gone');
      }
      await expect(ports.animalImporter.importAll(broken(), () => true)).rejects.toThrow('the file is gone');
      expect(await after(id)).toEqual([]);
      expect((await add()).id).toBe(id + 1n);
    });

    it('stores no animals from no rows', async () => {
      expect(await importAll([])).toEqual({ refused: none, newIds: undefined });
    });

    it('gives no id twice, whatever is added while it runs', async () => {
      // Ids that the others may draw before the import begins, meanwhile, or after it.
      for (const distance of [10n, 100n, 1_000n]) {
        const { id } = await add();
        const begin = id + distance;
        const rows = Array.from({ length: 20 }, (_, index) => ({ name: 'kept', id: begin + BigInt(index * 3) }));
        let isImporting = true;
        const adding = atOnce(8, async () => {
          const added: Animal[] = [];
          while (isImporting) added.push(await add('racer'));
          return added;
        });
        const { refused } = await importAll([...rows, { name: 'new' }, { name: 'new' }]);
        isImporting = false;
        const racers = (await adding).flat();
        const all = await after(id, 100_000);
        expect(all.filter((animal) => animal.name === 'racer')).toEqual(
          racers.sort((one, other) => (one.id < other.id ? -1 : 1)),
        );
        const stored = namesOf(all).filter((animal) => animal !== 'racer');
        expect(stored.sort()).toEqual(refused.count > 0 ? [] : [...namesOf(rows), 'new', 'new']);
      }
    });

    it('refuses the rows of unknown categories under strict ones, and stores nothing', async () => {
      const strict = await open('strict');
      const { ports } = strict;
      const { id: known } = await new AddCategory(ports).execute({ name: 'known' });
      const { id: other } = await new AddCategory(ports).execute({ name: 'other' });
      await ports.categories.delete(other, () => undefined);
      const importStrictly = async (...rows: readonly Row[]) =>
        (await ports.animalImporter.importAll(inParts(rows), () => true)).refused;
      const refused = await importStrictly({ categoryId: known }, { categoryId: other }, { id: 7n, categoryId: -5n });
      const reason = 'categoryId must be the id of a category';
      expect(refused).toEqual({ count: 2, first: [2, 3].map((line) => ({ line, reason })) });
      expect(await ports.animals.list({ limit: 100 })).toEqual([]);
      expect((await importStrictly({ categoryId: known }, { id: 7n, categoryId: known })).count).toBe(0);
      expect((await importStrictly({ id: 7n, categoryId: other }, { id: 7n, categoryId: other })).count).toBe(2);
      await strict.close();
    });

    it('puts no animal into a category that is removed meanwhile, under strict ones', async () => {
      const strict = await open('strict');
      const { ports } = strict;
      const deleteCategory = new DeleteCategory(ports);
      const removeAfter = async (reads: number, id: CategoryId) => {
        for (let done = 0; done < reads; done += 1) await ports.animals.list({ limit: 1 });
        return deleteCategory.execute({ id }).catch(() => 'refused');
      };
      // Each round removes it a little later after the first check, to meet the moment before the rows are stored.
      for (let reads = 0; reads < 30; reads += 1) {
        const { id } = await new AddCategory(ports).execute({ name: `category ${reads}` });
        const rows = Array.from({ length: 20 }, () => ({ categoryId: id }));
        let removing: Promise<unknown> | undefined;
        const stored = await ports.animalImporter.importAll(inParts(rows), () => {
          removing = removeAfter(reads, id);
          return true;
        });
        const removed = await removing;
        expect([stored.refused.count, removed]).toEqual(removed === 'refused' ? [0, removed] : [20, undefined]);
      }
      await strict.close();
    });

    it('stores one of several files with the same id, and refuses the others', async () => {
      for (let round = 0; round < 3; round += 1) {
        const { id } = await add();
        const outcomes = await atOnce(4, (index) =>
          importAll([{ name: `file ${index}`, id: id + 5n }, { name: `file ${index}` }]),
        );
        const winner = outcomes.findIndex(({ refused }) => refused.count === 0);
        const refused = { count: 1, first: [{ line: 1, reason: `id ${id + 5n} is that of another animal` }] };
        for (const other of outcomes.filter((_, index) => index !== winner)) expect(other.refused).toEqual(refused);
        expect(namesOf(await after(id))).toEqual([`file ${winner}`, `file ${winner}`]);
      }
    });
  });
}
