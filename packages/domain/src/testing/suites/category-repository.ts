import type { Account } from '../../accounts/account.js';
import { type Animal, type AnimalChange, type CategoryId, newAnimal } from '../../animals/animal.js';
import { type AdditionState, type Category, type CategoryPolicy, decideAddition } from '../../categories/category.js';
import { AddCategory, NameCategory, DeleteCategory } from '../../categories/use-cases.js';
import type { Condition } from '../../kernel/condition.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { MAX_PAGE_SIZE } from '../../kernel/page.js';
import { unchanged } from '../conditions.js';
import {
  eventless,
  expectDecidedOnce,
  openBefore,
  outcomes,
  present,
  race,
  REFUSAL,
  stateOf,
  storedEvents,
  transactFor,
  undo,
  Unique,
} from './fixtures.js';
import type { Open, Opened, TestFramework, Transact } from './framework.js';
import { INTEGERS, TEXTS } from './samples.js';

type Needed = 'accounts' | 'animals' | 'categories' | 'events' | 'idempotency';

/** Opens both repositories on one empty store, in which animals are added under this policy. */
type OpenCategories = (policy: CategoryPolicy) => Promise<Opened<Needed>>;

const NAME_TAKEN = { code: 'category_name_taken' };
const PRECONDITION_FAILED = { code: 'precondition_failed' };
const IN_USE = { code: 'category_in_use' };
const UNKNOWN = { code: 'invalid_parameter', message: 'categoryId must be the id of a category' };

/** The guarantees of every `CategoryRepository`, and of an `AnimalRepository` about categories. */
export function categoryRepositorySuite(framework: TestFramework, name: string, open: OpenCategories): void {
  openSuite(framework, name, () => open('open'));
  strictSuite(framework, name, () => open('strict'));
}

function openSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, expect } = framework;
  describe(`a category repository (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let transact: Transact;
    openBefore(framework, open, async (opened) => {
      ports = opened.ports;
      transact = transactFor(await ports.accounts.open(unique.account()), ports, unique);
      // More than a page, for the lists.
      for (let index = 0; index <= MAX_PAGE_SIZE; index += 1) await add();
    });

    const add = (text = unique.name()) => new AddCategory(ports).execute({ name: text });
    const put = (id: bigint, text: string, condition?: Condition<Category>) =>
      new NameCategory(ports).execute({ id, name: text, condition });
    const remove = (id: bigint) => new DeleteCategory(ports).execute({ id });
    const addAnimal = (categoryId: bigint) => ports.animals.add(newAnimal({ name: 'Luna', categoryId }));
    const find = (id: bigint) => ports.categories.findById(id as CategoryId);
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
      expect(await find(present(ids[2]))).toBeUndefined();
    });

    it('decides each change once', async () => {
      const { id } = await add();
      const [name, wanted] = [unique.name(), { id, name: unique.name() }];
      const { categories } = ports;
      const addition = (state: AdditionState) => decideAddition(state, { name });
      const [naming, nothing] = [() => ({ category: wanted, isNew: false }), () => undefined];
      await expectDecidedOnce(framework, {
        add: (counted) => categories.add(name, counted(addition)),
        name: (counted) => categories.name(wanted, counted(naming)),
        delete: (counted) => categories.delete(id, counted(nothing)),
      });
    });

    it('decides on the category with the id and the one with the name, and finds that, without regard to case and composition', async () => {
      const category = await add();
      const naming = (id: bigint, text: string) =>
        stateOf((refuse) => ports.categories.name({ id: id as CategoryId, name: text }, refuse));
      expect(await naming(category.id, unique.name())).toEqual({ category, namesake: undefined });
      for (const [name, inOtherCase] of [
        ['Cats', 'cATS'],
        ['Straße', 'STRASSE'],
        ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
        ['Caf\u00e9', 'CAFE\u0301'],
        ['Ra\u0308der', 'R\u00c4DER'],
      ] as const) {
        const namesake = await add(name);
        expect(await naming(INT64_MAX, inOtherCase)).toEqual({ category: undefined, namesake });
        expect(await naming(category.id, inOtherCase)).toEqual({ category, namesake });
        expect(await naming(namesake.id, inOtherCase)).toEqual({ category: namesake, namesake });
        expect(await stateOf((refuse) => ports.categories.add(inOtherCase, refuse))).toMatchObject({ namesake });
        expect(await find(namesake.id)).toEqual(namesake);
        expect(await ports.categories.findByName(inOtherCase)).toEqual(namesake);
      }
      await add('i');
      expect(await stateOf((refuse) => ports.categories.add('İ', refuse))).toMatchObject({ namesake: undefined });
      expect(await ports.categories.findByName('İ')).toBeUndefined();
    });

    it('decides a removal on the category, and whether an animal has it', async () => {
      const category = await add();
      const removal = (id: bigint) => stateOf((refuse) => ports.categories.delete(id as CategoryId, refuse));
      expect(await removal(category.id)).toEqual({ category, isUsed: false });
      await addAnimal(category.id);
      expect(await removal(category.id)).toEqual({ category, isUsed: true });
      expect(await removal(INT64_MAX)).toEqual({ category: undefined, isUsed: false });
      expect(await find(category.id)).toEqual(category);
    });

    it('names any id, again and again, and a name that was given up or removed is free', async () => {
      const id = -77n;
      for (const [text, isNew] of [
        ['Otters', true],
        ['Sea otters', false],
        ['SEA OTTERS', false],
      ] as const) {
        expect(await put(id, text)).toEqual({ category: { id, name: text }, isNew });
        expect(await find(id)).toEqual({ id, name: text });
      }
      expect((await add('otters')).name).toBe('otters');
      await remove(id);
      expect(await find(id)).toBeUndefined();
      expect((await add('Sea otters')).name).toBe('Sea otters');
    });

    it('keeps every int64 and every name exactly', async () => {
      for (const id of INTEGERS) {
        const { category } = await put(id, unique.name());
        expect(await find(id)).toEqual(category);
        await remove(id);
      }
      // In upper case the last one has three times as many characters.
      for (const text of [...TEXTS, 'ΐ'.repeat(255)]) {
        const added = await add(text);
        expect(await find(added.id)).toEqual({ id: added.id, name: text });
      }
    });

    it('adds in the transaction that it gets: nothing is left of one that fails', async () => {
      const text = unique.name();
      const adding = (end: () => void) =>
        transact(async (transaction) => {
          const category = await ports.categories.add(
            text,
            (state) => decideAddition(state, { name: text }),
            transaction,
          );
          end();
          return category;
        });
      const refuse = () => {
        throw REFUSAL;
      };
      await expect(adding(refuse)).rejects.toBe(REFUSAL);
      expect(await stateOf((refused) => ports.categories.add(text, refused))).toMatchObject({ namesake: undefined });
      const added = await adding(() => undefined);
      expect(await find(added.id)).toEqual({ id: added.id, name: text });
    });

    it('changes nothing if the decision refuses', async () => {
      const category = await add();
      const before = await ports.categories.list({ limit: 1_000 });
      await stateOf((refuse) => ports.categories.add(unique.name(), refuse));
      await stateOf((refuse) => ports.categories.name({ id: category.id, name: unique.name() }, refuse));
      await stateOf((refuse) => ports.categories.delete(category.id, refuse));
      expect(await ports.categories.list({ limit: 1_000 })).toEqual(before);
    });

    it('lists all or those with some ids, each once, behind an id or before one, ascending and as many as asked for', async () => {
      const base = 1_000_000n;
      for (const offset of [3n, -2_000_001n, 1n, 2n]) await put(base + offset, unique.name());
      const all = await ports.categories.list({ limit: 1_000 });
      const ids = idsOf(all);
      expect(ids).toEqual([...ids].sort((one, other) => (one < other ? -1 : 1)));
      const some = [3n, 1n, 1n, -2_000_001n].map((offset) => (base + offset) as CategoryId);
      const places = [some[0], some[1], INT64_MIN as CategoryId, INT64_MAX as CategoryId];
      for (const wanted of [undefined, some, [...some, INT64_MIN as CategoryId], []])
        for (const { after, before } of [
          { after: undefined, before: undefined },
          ...places.flatMap((id) => [
            { after: id, before: undefined },
            { after: undefined, before: id },
          ]),
        ])
          for (const limit of [2, MAX_PAGE_SIZE + 1]) {
            const query = { ids: wanted, after, before, limit };
            const matching = ids
              .filter((id) => wanted?.includes(id) ?? true)
              .filter((id) => (after === undefined || id > after) && (before === undefined || id < before));
            const page = before === undefined ? matching.slice(0, limit) : matching.slice(-limit);
            expect({ query, ids: idsOf(await ports.categories.list(query)) }).toEqual({ query, ids: page });
          }
    });

    it('lets exactly one of many concurrent callers change what all have seen', async () => {
      for (const isRemoved of [true, false, true]) {
        const added = await add();
        const { id } = added;
        if (isRemoved) await remove(id);
        const seen = unchanged(isRemoved ? undefined : added);
        const { values, reasons } = await race(8, () => put(id, unique.name(), seen));
        expect(values).toEqual([{ category: await find(id), isNew: isRemoved }]);
        for (const reason of reasons) expect(reason).toMatchObject(PRECONDITION_FAILED);
      }
    });

    it('gives a name to exactly one of many concurrent callers', async () => {
      for (let round = 0; round < 2; round += 1) {
        const text = `${unique.name()} \u00e9`;
        const written = text.toUpperCase().normalize('NFD');
        const { values, reasons } = await race<unknown>(16, (index) =>
          index % 2 === 0 ? add(text) : put(BigInt(30_000 + round * 100 + index), written),
        );
        expect(values).toHaveLength(1);
        for (const reason of reasons) expect(reason).toMatchObject(NAME_TAKEN);
      }
    });
  });
}

function strictSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, expect } = framework;
  describe(`an animal repository with strict categories (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let account: Account;
    openBefore(framework, open, async (opened) => {
      ports = opened.ports;
      account = await ports.accounts.open(unique.account());
    });

    const eventsOf = async (work: () => Promise<unknown>) => {
      const { length } = await storedEvents(ports, account.id);
      await work();
      return (await storedEvents(ports, account.id)).slice(length);
    };
    const add = (categoryId: bigint) => ports.animals.add(newAnimal({ name: 'Luna', categoryId }));
    const addCategory = () => new AddCategory(ports).execute({ name: unique.name() });
    const move = (animal: Animal, change: AnimalChange) =>
      ports.animals.change(animal.id, () => eventless({ ...animal, ...change } as Animal), change.categoryId);

    it('adds no animal whose category is unknown, and no event', async () => {
      expect(await eventsOf(() => expect(add(1n)).rejects.toMatchObject(UNKNOWN))).toEqual([]);
      const { id } = await addCategory();
      expect((await add(id)).categoryId).toBe(id);
      await expect(add(id + 1n)).rejects.toMatchObject(UNKNOWN);
      expect(await ports.animals.list({ limit: 100 })).toHaveLength(1);
    });

    it('refuses of many concurrent animals only those whose category is unknown', async () => {
      const { id } = await addCategory();
      const categoryIds = Array.from({ length: 20 }, (_, index) => (index % 4 === 1 ? -1n : id));
      const animals = categoryIds.map((categoryId, index) => newAnimal({ name: String(index), categoryId }));
      const { values, reasons } = outcomes(
        await Promise.allSettled(animals.map((animal) => ports.animals.add(animal))),
      );
      const known = animals.filter(({ categoryId }) => categoryId === id);
      expect(values.map(({ name: animal }) => animal)).toEqual(known.map(({ name: animal }) => animal));
      expect(reasons).toHaveLength(5);
      for (const reason of reasons) expect(reason).toMatchObject(UNKNOWN);
    });

    it('adds an animal in the transaction that it gets: nothing is left of one that fails', async () => {
      const { id } = await addCategory();
      const animal = newAnimal({ name: 'Luna', categoryId: id });
      await undo(ports, account, (transaction) => ports.animals.add(animal, transaction));
      expect(await ports.animals.list({ categoryIds: [id], limit: 1 })).toEqual([]);
    });

    it('puts no stored animal into an unknown category, and changes nothing else of it then', async () => {
      const [from, to] = [await addCategory(), await addCategory()];
      const animal = await add(from.id);
      const change = (categoryId: bigint) => move(animal, { name: 'Milo', categoryId: categoryId as CategoryId });
      const events = [{ type: 'pet.changed', data: animal }] as const;
      const refused = () => ports.animals.change(animal.id, () => ({ animal, events }), -1n as CategoryId);
      expect(await eventsOf(() => expect(refused()).rejects.toMatchObject(UNKNOWN))).toEqual([]);
      await expect(change(-1n)).rejects.toMatchObject(UNKNOWN);
      expect(await ports.animals.findById(animal.id)).toEqual(animal);
      expect(await change(to.id)).toEqual({ ...animal, name: 'Milo', categoryId: to.id });
      expect(await move(animal, { name: 'Nala' })).toMatchObject({ name: 'Nala' });
    });

    it('looks at the category only after the decision', async () => {
      const animal = await add((await addCategory()).id);
      const state = stateOf((refuse) => ports.animals.change(animal.id, refuse, -1n as CategoryId));
      expect(await state).toMatchObject({ animal });
    });

    it('holds a change of an animal to the category that it names, even the animal’s own, and to no other', async () => {
      const { id } = await addCategory();
      const animal = await add(id);
      await ports.categories.delete(id, () => undefined);
      await expect(move(animal, { categoryId: id })).rejects.toMatchObject(UNKNOWN);
      expect(await ports.animals.findById(animal.id)).toEqual(animal);
      expect(await move(animal, { name: 'Milo' })).toEqual({ ...animal, name: 'Milo' });
    });

    it('takes a category for used into which an animal is being put, and doesn’t wait for its end', async () => {
      const category = await addCategory();
      const removing = transactFor(
        account,
        ports,
        unique,
      )(async (transaction) => {
        await ports.animals.add(newAnimal({ name: 'Luna', categoryId: category.id }), transaction);
        return stateOf((refuse) => ports.categories.delete(category.id, refuse));
      });
      expect(await removing).toEqual({ category, isUsed: true });
    });

    it('has no animal of a removed category, whichever comes first', async () => {
      const other = await addCategory();
      for (let round = 0; round < 8; round += 1) {
        const category = await addCategory();
        const stored = await add(other.id);
        const remove = () => new DeleteCategory(ports).execute(category);
        const removing = round % 2 === 0 ? [remove()] : [];
        const adding = Array.from({ length: 1 + (round % 4) }, (_, index) =>
          (index + round) % 3 === 0 ? move(stored, { categoryId: category.id }) : add(category.id),
        );
        if (removing.length === 0) removing.push(remove());
        // Awaited together: some test runners fail for a refusal that nobody awaits yet.
        const [additions, removals] = await Promise.all([Promise.allSettled(adding), Promise.allSettled(removing)]);
        const [added, removed] = [outcomes(additions), outcomes(removals)];
        for (const reason of added.reasons) expect(reason).toMatchObject(UNKNOWN);
        for (const reason of removed.reasons) expect(reason).toMatchObject(IN_USE);
        const isUsed = added.values.length > 0;
        expect(removed.values).toHaveLength(isUsed ? 0 : 1);
        expect(await ports.categories.findById(category.id)).toEqual(isUsed ? category : undefined);
      }
    });
  });
}
