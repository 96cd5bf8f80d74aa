import { type Animal, type AnimalChange, type CategoryId, newAnimal } from '../../animals/animal.js';
import { type Category, type CategoryPolicy, categoryVersion } from '../../categories/category.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { checkDrawn, Draws } from './draws.js';
import { atOnce, outcomes, Unique } from './fixtures.js';
import type { Opened, TestFramework } from './framework.js';

type Needed = 'animals' | 'categories' | 'cryptography';

/** Opens both repositories on one empty store, in which animals are added under this policy. */
type OpenCategories = (policy: CategoryPolicy) => Promise<Opened<Needed>>;

const NAME_TAKEN = { code: 'category_name_taken' };
const PRECONDITION_FAILED = { code: 'precondition_failed' };
const IN_USE = { code: 'category_in_use' };
const UNKNOWN = { code: 'invalid_parameter', message: 'categoryId must be the id of a category' };

/** The guarantees of every `CategoryRepository`, and of an `AnimalRepository` about categories. */
export function categoryRepositorySuite(framework: TestFramework, name: string, open: OpenCategories): void {
  openSuite(framework, name, open);
  strictSuite(framework, name, open);
}

function openSuite(framework: TestFramework, name: string, open: OpenCategories): void {
  const { describe, it, beforeAll, afterAll, expect, random } = framework;
  describe(`a category repository (${name})`, () => {
    const draws = new Draws(random);
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    beforeAll(async () => {
      adapters = await open('open');
      ports = adapters.ports;
    });
    afterAll(() => adapters.close());

    const add = (text = unique.name()) => ports.categories.add(text);
    const addAnimal = (categoryId: bigint) => ports.animals.add(newAnimal({ name: 'Luna', categoryId }));
    const find = (id: bigint) => ports.categories.findById(id as CategoryId);
    const put = (id: bigint, text: string) => ports.categories.name({ id: id as CategoryId, name: text });
    const idsOf = (found: readonly Category[]) => found.map(({ id }) => id);

    it('adds a category under an id that neither a category nor an animal has', async () => {
      const last = await add();
      const ids = Array.from({ length: 6 }, (_, index) => last.id + BigInt(index + 1));
      for (const id of ids.slice(0, 3)) await addAnimal(id);
      for (const id of ids.slice(3)) await put(id, unique.name());
      const added = await add(' Łuchse 🐈 ');
      expect(added).toEqual({ id: added.id, name: ' Łuchse 🐈 ' });
      expect([last.id, ...ids].includes(added.id)).toBe(false);
      expect(await find(added.id)).toEqual(added);
    });

    it('returns undefined for an unknown category', async () => {
      expect(await find(INT64_MAX)).toBeUndefined();
      expect(await ports.categories.remove(INT64_MAX as CategoryId)).toBe(false);
    });

    it('keeps every int64 and every name exactly', async () => {
      const named = (text: string) => (text.trim() === '' ? `${text}Lynx` : text);
      const draw = () => ({ id: draws.int64(), name: named(draws.text(255)) });
      await checkDrawn(10, draw, async ({ id, name: text }) => {
        await put(id, text);
        expect(await find(id)).toEqual({ id, name: text });
        await ports.categories.remove(id as CategoryId);
      });
      // In upper case it has three times as many characters.
      const longest = 'ΐ'.repeat(255);
      expect((await add(longest)).name).toBe(longest);
    });

    it('lists by ids and after an id, ascending and no more than asked for', async () => {
      const base = 1_000_000n;
      for (const offset of [3n, -2_000_001n, 1n, 2n]) await put(base + offset, unique.name());
      const [one, two, three] = [1n, 2n, 3n].map((offset) => (base + offset) as CategoryId);
      const after = base as CategoryId;
      const list = async (query: Parameters<typeof ports.categories.list>[0]) =>
        idsOf(await ports.categories.list(query));

      expect(await list({ after, limit: 100 })).toEqual([one, two, three]);
      expect(await list({ after, limit: 2 })).toEqual([one, two]);
      expect(await list({ after: one, limit: 1 })).toEqual([two]);
      expect((await list({ limit: 1 }))[0]).toBe(-1_000_001n);
      const ids = [three, one, one, INT64_MIN] as CategoryId[];
      expect(await list({ ids, limit: 100 })).toEqual([one, three]);
      expect(await list({ ids, after: one, limit: 100 })).toEqual([three]);
      expect(await list({ ids: [], limit: 100 })).toEqual([]);
      expect(await list({ before: three, limit: 2 })).toEqual([one, two]);
      expect(await list({ before: three, limit: 1 })).toEqual([two]);
    });

    it('gives a name once, without regard to case', async () => {
      for (const [one, other] of [
        ['Cats', 'cATS'],
        ['Straße', 'STRASSE'],
        ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
      ] as const) {
        const { id } = await add(one);
        await expect(add(other)).rejects.toMatchObject(NAME_TAKEN);
        await expect(put(id + 5_000n, other)).rejects.toMatchObject(NAME_TAKEN);
        expect(await find(id + 5_000n)).toBeUndefined();
        expect(await put(id, other)).toBe(false);
        expect(await find(id)).toEqual({ id, name: other });
      }
      await add('i');
      expect((await add('İ')).name).toBe('İ');
    });

    it('names any id, and says whether it had no name', async () => {
      const id = -77n;
      expect(await put(id, 'Otters')).toBe(true);
      expect(await put(id, 'Sea otters')).toBe(false);
      expect(await find(id)).toEqual({ id, name: 'Sea otters' });
      expect((await add('Otters')).name).toBe('Otters');
      await expect(put(id, 'OTTERS')).rejects.toMatchObject(NAME_TAKEN);
      expect(await find(id)).toEqual({ id, name: 'Sea otters' });
    });

    it('removes a category that no animal has, and its name is free again', async () => {
      const { id, name: text } = await add();
      expect(await ports.categories.remove(id)).toBe(true);
      expect(await find(id)).toBeUndefined();
      expect(await ports.categories.remove(id)).toBe(false);
      const again = await add(text);
      await addAnimal(again.id);
      await expect(ports.categories.remove(again.id)).rejects.toMatchObject(IN_USE);
      expect(await find(again.id)).toEqual(again);
    });

    it('renames and removes a category only in a wanted version', async () => {
      const versionOf = (category: Category) => categoryVersion(category, (text) => ports.cryptography.sha256(text));
      const added = await add(' Łöwen 🦁 ');
      const { id } = added;
      const other = await add();
      for (const versions of [[], ['another'], [versionOf(other)]]) {
        await expect(ports.categories.name({ id, name: unique.name() }, versions)).rejects.toMatchObject(
          PRECONDITION_FAILED,
        );
        await expect(ports.categories.remove(id, versions)).rejects.toMatchObject(PRECONDITION_FAILED);
      }
      expect(await find(id)).toEqual(added);
      // It is judged first, then the name.
      await expect(ports.categories.name({ id, name: other.name }, ['another'])).rejects.toMatchObject(
        PRECONDITION_FAILED,
      );
      await expect(ports.categories.name({ id, name: other.name }, [versionOf(added)])).rejects.toMatchObject(
        NAME_TAKEN,
      );
      const renamed = { id, name: unique.name() };
      expect(await ports.categories.name(renamed, ['another', versionOf(added)])).toBe(false);
      expect(await ports.categories.name(renamed, 'any')).toBe(false);
      await addAnimal(id);
      await expect(ports.categories.remove(id, [versionOf(added)])).rejects.toMatchObject(PRECONDITION_FAILED);
      await expect(ports.categories.remove(id, [versionOf(renamed)])).rejects.toMatchObject(IN_USE);
      expect(await ports.categories.remove(other.id, [versionOf(other)])).toBe(true);
      expect(await ports.categories.remove(other.id, ['another'])).toBe(false);
      for (const versions of ['any', [versionOf(other)]] as const) {
        await expect(ports.categories.name(other, versions)).rejects.toMatchObject(PRECONDITION_FAILED);
      }
      expect(await find(other.id)).toBeUndefined();
    });

    it('names an id that must have no name yet only if it has none, of many concurrent callers for one', async () => {
      const taken = await add();
      await expect(ports.categories.name({ id: taken.id, name: unique.name() }, 'none')).rejects.toMatchObject(
        PRECONDITION_FAILED,
      );
      expect(await find(taken.id)).toEqual(taken);
      for (let round = 0; round < 3; round += 1) {
        const { id } = await add();
        await ports.categories.remove(id);
        const calls = Array.from({ length: 8 }, () => ports.categories.name({ id, name: unique.name() }, 'none'));
        const { values, reasons } = outcomes(await Promise.allSettled(calls));
        expect(values).toEqual([true]);
        for (const reason of reasons) expect(reason).toMatchObject(PRECONDITION_FAILED);
      }
    });

    it('lets exactly one of many concurrent callers rename the version that all have seen', async () => {
      for (let round = 0; round < 3; round += 1) {
        const category = await add();
        const seen = [categoryVersion(category, (text) => ports.cryptography.sha256(text))];
        const calls = Array.from({ length: 8 }, () =>
          ports.categories.name({ id: category.id, name: unique.name() }, seen),
        );
        const { values, reasons } = outcomes(await Promise.allSettled(calls));
        expect(values).toEqual([false]);
        for (const reason of reasons) expect(reason).toMatchObject(PRECONDITION_FAILED);
      }
    });

    it('gives each of many concurrent callers a new category', async () => {
      // Some of the next ids are used.
      const { id } = await add();
      for (const offset of [1n, 4n, 7n]) await addAnimal(id + offset);
      const added = await atOnce(20, (index) => add(`racer ${index}`));
      expect(added.map((category) => category.name)).toEqual(added.map((_, index) => `racer ${index}`));
      expect(new Set(idsOf(added)).size).toBe(20);
      for (const each of added) expect(await find(each.id)).toEqual(each);
    });

    it('gives a name to exactly one of many concurrent callers', async () => {
      for (let round = 0; round < 3; round += 1) {
        const text = unique.name();
        const calls = Array.from({ length: 16 }, (_, index) =>
          index % 2 === 0 ? add(text).then(() => true) : put(BigInt(30_000 + round * 100 + index), text.toUpperCase()),
        );
        const { values, reasons } = outcomes(await Promise.allSettled(calls));
        expect(values).toEqual([true]);
        for (const reason of reasons) expect(reason).toMatchObject(NAME_TAKEN);
      }
    });
  });
}

function strictSuite(framework: TestFramework, name: string, open: OpenCategories): void {
  const { describe, it, beforeAll, afterAll, expect, random } = framework;
  describe(`an animal repository with strict categories (${name})`, () => {
    const draws = new Draws(random);
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    beforeAll(async () => {
      adapters = await open('strict');
      ports = adapters.ports;
    });
    afterAll(() => adapters.close());

    const add = (categoryId: bigint) => ports.animals.add(newAnimal({ name: 'Luna', categoryId }));
    const move = (animal: Animal, change: AnimalChange) =>
      ports.animals.change(animal.id, () => ({ ...animal, ...change }) as Animal, change.categoryId);

    it('adds no animal whose category is unknown', async () => {
      await expect(add(1n)).rejects.toMatchObject(UNKNOWN);
      const { id } = await ports.categories.add(unique.name());
      expect((await add(id)).categoryId).toBe(id);
      await expect(add(id + 1n)).rejects.toMatchObject(UNKNOWN);
      expect(await ports.animals.list({ limit: 100 })).toHaveLength(1);
    });

    it('refuses of many concurrent animals only those whose category is unknown', async () => {
      const { id } = await ports.categories.add(unique.name());
      await checkDrawn(
        4,
        () => draws.many(1, 20, () => draws.isOneOf(4)),
        async (areWrong) => {
          const settled = await Promise.allSettled(areWrong.map((isWrong) => add(isWrong ? -1n : id)));
          expect(settled.map(({ status }) => status)).toEqual(
            areWrong.map((isWrong) => (isWrong ? 'rejected' : 'fulfilled')),
          );
          for (const reason of outcomes(settled).reasons) expect(reason).toMatchObject(UNKNOWN);
        },
      );
    });

    it('puts no stored animal into an unknown category, and changes nothing else of it then', async () => {
      const [from, to] = [await ports.categories.add(unique.name()), await ports.categories.add(unique.name())];
      const animal = await add(from.id);
      const change = (categoryId: bigint) => move(animal, { name: 'Milo', categoryId: categoryId as CategoryId });
      await expect(change(-1n)).rejects.toMatchObject(UNKNOWN);
      expect(await ports.animals.findById(animal.id)).toEqual(animal);
      expect(await change(to.id)).toEqual({ ...animal, name: 'Milo', categoryId: to.id });
      expect(await move(animal, { name: 'Nala' })).toMatchObject({ name: 'Nala' });
    });

    it('has no animal of a removed category, whichever comes first', async () => {
      const other = await ports.categories.add(unique.name());
      for (let round = 0; round < 15; round += 1) {
        const category = await ports.categories.add(unique.name());
        const stored = await add(other.id);
        const remove = () => ports.categories.remove(category.id);
        const removing = draws.isOneOf(2) ? [remove()] : [];
        const adding = Array.from({ length: draws.integer(1, 4) }, () =>
          draws.isOneOf(2) ? add(category.id) : move(stored, { categoryId: category.id }),
        );
        if (removing.length === 0) removing.push(remove());
        const added = outcomes(await Promise.allSettled(adding));
        for (const reason of added.reasons) expect(reason).toMatchObject(UNKNOWN);
        const removed = outcomes(await Promise.allSettled(removing));
        for (const reason of removed.reasons) expect(reason).toMatchObject(IN_USE);
        const isUsed = added.values.length > 0;
        expect(removed.values).toEqual(isUsed ? [] : [true]);
        expect(await ports.categories.findById(category.id)).toEqual(isUsed ? category : undefined);
      }
    });
  });
}
