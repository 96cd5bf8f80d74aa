import {
  type Animal,
  type AnimalId,
  animalNameKey,
  type AnimalState,
  type CategoryId,
  type DecidedAnimal,
  newAnimal,
  PET_STATUSES,
} from '../../animals/animal.js';
import type { AnimalQuery, AnimalRepository, NamedAnimalsQuery } from '../../animals/animal-repository.js';
import { INT64_MAX, INT64_MIN } from '../../kernel/int64.js';
import { MAX_PAGE_SIZE } from '../../kernel/page.js';
import { ORDER_STATUSES } from '../../orders/order.js';
import { asStored, atOnce, eventless, NOON, openBefore, present, race, REFUSAL, stateOf } from './fixtures.js';
import type { OpenedAnimals, TestFramework } from './framework.js';
import { INTEGERS, TEXTS } from './samples.js';

type OpenAnimals = () => Promise<OpenedAnimals>;

const idsOf = (animals: readonly Animal[]) => animals.map(({ id }) => id);
const luna = (input: Partial<Parameters<typeof newAnimal>[0]> = {}) =>
  newAnimal({ name: 'Luna', categoryId: 1n, ...input });

/** The guarantees of every `AnimalRepository`. Those about categories are in the suite of categories. */
export function animalRepositorySuite(framework: TestFramework, name: string, open: OpenAnimals): void {
  framework.describe(`an animal repository (${name})`, () => {
    const store = openStore(framework, open);
    for (const [what, suite] of Object.entries({ additions, changes, withdrawals, names }))
      framework.describe(what, () => {
        suite(framework, store);
      });
    framework.describe('lists', () => {
      lists(framework, open);
    });
  });
}

/** What the suites do with a store. */
function openStore(framework: TestFramework, open: OpenAnimals) {
  let opened: OpenedAnimals;
  let animals: AnimalRepository;
  openBefore(framework, open, (adapters) => {
    opened = adapters;
    animals = adapters.ports.animals;
  });
  return {
    get animals() {
      return animals;
    },
    add: (input?: Parameters<typeof luna>[0]) => animals.add(luna(input)),
    order: (...args: Parameters<OpenedAnimals['order']>) => opened.order(...args),
    transact: <Result>(work: Parameters<typeof opened.transact<Result>>[0]) => opened.transact(work),
    withdraw: (id: AnimalId) => animals.withdraw(id, NOON, ({ animal }) => eventless(stored(animal))),
    /** The states on which a change and a withdrawal are decided. */
    statesOf: async (id: bigint) => [
      await stateOf<AnimalState>((refuse) => animals.change(id as AnimalId, refuse)),
      await stateOf<AnimalState>((refuse) => animals.withdraw(id as AnimalId, NOON, refuse)),
    ],
    /** The events that the work stores. */
    eventsOf: async (work: () => Promise<unknown>) => {
      const { length } = await opened.storedEvents();
      await work();
      return (await opened.storedEvents()).slice(length);
    },
  };
}

type Store = ReturnType<typeof openStore>;

function stored(animal: Animal | undefined): Animal {
  if (animal === undefined) throw REFUSAL;
  return animal;
}

function additions({ it, expect }: TestFramework, store: Store): void {
  const samples = [
    ...INTEGERS.map((categoryId) => luna({ categoryId })),
    ...TEXTS.map((text) => luna({ name: text })),
    ...PET_STATUSES.map((status) => luna({ status })),
  ];

  const added = (...animals: readonly Animal[]) =>
    asStored(...animals.map((data) => ({ type: 'pet.added', data }) as const));

  it('return the animal under its new id, and store every int64, name and status exactly, with its event', async () => {
    for (const sample of samples) {
      const animals: Animal[] = [];
      const events = await store.eventsOf(async () => animals.push(await store.animals.add(sample)));
      const { id } = present(animals[0]);
      expect(typeof id).toBe('bigint');
      expect(animals).toEqual([{ ...sample, id }]);
      expect(await store.animals.findById(id)).toEqual(animals[0]);
      expect(events).toEqual(added(...animals));
    }
  });

  it('give each of many concurrent callers a new animal, and store the event of each', async () => {
    const animals: Animal[] = [];
    const add = () => atOnce(50, (index) => store.add({ name: `racer ${index}` }));
    const events = await store.eventsOf(async () => animals.push(...(await add())));
    expect(animals.map(({ name }) => name)).toEqual(animals.map((_, index) => `racer ${index}`));
    expect(new Set(idsOf(animals)).size).toBe(50);
    expect(await store.animals.list({ ids: idsOf(animals), limit: 100 })).toHaveLength(50);
    expect(events.map(({ data }) => data).sort()).toEqual(
      added(...animals)
        .map(({ data }) => data)
        .sort(),
    );
  });

  it('are in the transaction that they get: nothing is left of one that fails, not even an event', async () => {
    const animals: Animal[] = [];
    const add = (end: () => void) =>
      store.transact(async (transaction) => {
        animals.push(await store.animals.add(luna(), transaction));
        end();
      });
    const fail = () => {
      throw REFUSAL;
    };
    expect(await store.eventsOf(() => expect(add(fail)).rejects.toBe(REFUSAL))).toEqual([]);
    expect(await store.animals.findById(present(animals[0]).id)).toBeUndefined();
    const events = await store.eventsOf(() => add(() => undefined));
    const kept = present(animals[1]);
    expect(await store.animals.findById(kept.id)).toEqual(kept);
    expect(events).toEqual(added(kept));
  });
}

const UNKNOWN = [INT64_MAX, -1n, INT64_MIN];
const NONE: AnimalState = { animal: undefined, isOrdered: false };

function lists(framework: TestFramework, open: OpenAnimals): void {
  const { it, beforeAll, expect } = framework;
  const store = openStore(framework, open);
  const categories = [INT64_MIN, 1_000n, INT64_MAX] as CategoryId[];
  const some = categories.slice(0, 2);
  let all: readonly Animal[];
  let ids: readonly AnimalId[];
  beforeAll(async () => {
    // More than a page of one status and category, and three of each other combination.
    const added = await atOnce(MAX_PAGE_SIZE + 30, (index) =>
      store.add({
        status: PET_STATUSES[index < 27 ? index % 3 : 0],
        categoryId: present(categories[index < 27 ? Math.floor(index / 3) % 3 : 0]),
      }),
    );
    all = added.sort((one, other) => (one.id < other.id ? -1 : 1));
    ids = idsOf(all.filter((_, index) => index % 2 === 0));
  });

  const matching = ({ status, ids: wanted, categoryIds, after, before, limit }: AnimalQuery) => {
    const found = all
      .filter((animal) => (status ?? animal.status) === animal.status)
      .filter(({ categoryId }) => categoryIds?.includes(categoryId) ?? true)
      .filter(({ id }) => (wanted?.includes(id) ?? true) && id > (after ?? INT64_MIN) && id < (before ?? INT64_MAX));
    return before === undefined ? found.slice(0, limit) : found.slice(-limit);
  };
  const expectPages = async (queries: readonly (Omit<AnimalQuery, 'limit'> & { readonly limit?: number })[]) => {
    for (const { limit = 1_000, ...filters } of queries) {
      const query = { ...filters, limit };
      const page = await store.animals.list(query);
      expect({ query, ids: idsOf(page) }).toEqual({ query, ids: idsOf(matching(query)) });
    }
  };
  /** Every combination of filters. */
  const combinations = () =>
    [undefined, ...PET_STATUSES].flatMap((status) =>
      [undefined, some].flatMap((categoryIds) => [undefined, ids].map((each) => ({ status, categoryIds, ids: each }))),
    );
  const place = (index: number) => present(all[index]).id;

  it('have all animals, ascending by id', async () => {
    expect(await store.animals.list({ limit: 1_000 })).toEqual(all);
  });

  it('have those of some categories, each once', () =>
    expectPages([some, [1_000n, 1_000n], [4_711n], []].map((each) => ({ categoryIds: each as CategoryId[] }))));

  it('have those with some ids, each once and without the unknown ones', () => {
    const unordered = [...ids, ...UNKNOWN, ...ids].reverse() as AnimalId[];
    return expectPages([unordered, UNKNOWN as AnimalId[], []].map((each) => ({ ids: each })));
  });

  it('have those that match each of several filters', () => expectPages(combinations()));

  it('begin behind the id, or end before it, ascending too', () =>
    expectPages([
      ...combinations().flatMap((filters) => [
        ...[10, 60].map((index) => ({ ...filters, after: place(index), limit: 5 })),
        ...[20, 70].map((index) => ({ ...filters, before: place(index), limit: 5 })),
      ]),
      ...[place(0), place(all.length - 1), ...UNKNOWN].map((after) => ({ after: after as AnimalId })),
      ...[place(0), place(1), ...UNKNOWN].map((before) => ({ before: before as AnimalId })),
    ]));

  it('have no more than asked for, and so many, also if that is more than a page', () =>
    expectPages(
      [{}, { status: 'available' as const }, { categoryIds: [...some, ...some] }, { ids: idsOf(all) }].flatMap(
        (filters) =>
          [{}, { after: place(3) }, { before: place(125) }].flatMap((at) =>
            [1, 2, MAX_PAGE_SIZE + 1].map((limit) => ({ ...filters, ...at, limit })),
          ),
      ),
    ));

  it('and finds give each of many concurrent readers what it asked for, and nothing for an unknown id', async () => {
    const queries = combinations().flatMap((filters, index) => {
      const ids = [place(index + 2), ...UNKNOWN, place(index), place(index)] as AnimalId[];
      return [
        { ...filters, limit: 3 + (index % 2) },
        { ...filters, after: place(index), limit: 3 + (index % 2) },
        { ...filters, after: place(index + 30), limit: 3 },
        { ...filters, before: place(index + 60), limit: 3 },
        { ...filters, ids, limit: 1 + (index % 3) },
        ...[0, 1, 2].map((next) => ({ ...filters, after: place(next), limit: MAX_PAGE_SIZE + 1 })),
      ];
    });
    const some = all.slice(0, 20);
    const finding = Promise.all([...idsOf(some), ...UNKNOWN].map((id) => store.animals.findById(id as AnimalId)));
    const pages = await Promise.all(queries.map((query) => store.animals.list(query)));
    expect(await finding).toEqual([...some, ...UNKNOWN.map(() => undefined)]);
    pages.forEach((page, index) => {
      const query = present(queries[index]);
      expect({ query, ids: idsOf(page) }).toEqual({ query, ids: idsOf(matching(query)) });
    });
  });
}

function changes({ it, expect }: TestFramework, store: Store): void {
  const milo = { name: ' Miło 🐈 ', categoryId: INT64_MIN as CategoryId, status: 'sold' } as const;

  it('and withdrawals are decided on the animal, or that there is none', async () => {
    const animal = await store.add({ name: ' Łuna 🐈 ', categoryId: INT64_MIN, status: 'sold' });
    const state = { animal, isOrdered: false };
    expect(await store.statesOf(animal.id)).toEqual([state, state]);
    for (const id of UNKNOWN) expect({ id, states: await store.statesOf(id) }).toEqual({ id, states: [NONE, NONE] });
  });

  it('and withdrawals are decided on whether an order for the animal is placed', async () => {
    for (const status of ORDER_STATUSES) {
      const [{ id }, bystander] = [await store.add(), await store.add()];
      await store.order(id, status);
      const areOrdered = (await store.statesOf(id)).map(({ isOrdered }) => isOrdered);
      const isPlaced = status === 'placed';
      expect({ status, areOrdered }).toEqual({ status, areOrdered: [isPlaced, isPlaced] });
      expect((await store.statesOf(bystander.id)).map(({ isOrdered }) => isOrdered)).toEqual([false, false]);
    }
  });

  it('store what is decided of the animal, return it, and leave others as they are', async () => {
    const [animal, bystander] = [await store.add(), await store.add()];
    const changed = { ...animal, ...milo };
    expect(await store.animals.change(animal.id, () => eventless(changed))).toEqual(changed);
    expect(await store.animals.findById(animal.id)).toEqual(changed);
    expect(await store.animals.findById(bystander.id)).toEqual(bystander);
    expect(await store.animals.list({ ids: [animal.id], status: 'available', limit: 1 })).toEqual([]);
  });

  it('and withdrawals store all events of the decision, in their order, and no others', async () => {
    const animal = await store.add();
    const events = (['pet.removed', 'pet.changed'] as const).map((type) => ({ type, data: { ...animal, ...milo } }));
    const { animals } = store;
    const change = (decided: DecidedAnimal) => store.eventsOf(() => animals.change(animal.id, () => decided));
    expect(await change({ animal, events })).toEqual(asStored(...events));
    expect(await change(eventless(animal))).toEqual([]);
    const withdrawing = () => animals.withdraw(animal.id, NOON, () => ({ animal, events }));
    expect(await store.eventsOf(withdrawing)).toEqual(asStored(...events));
  });

  it('and withdrawals change nothing and store no event if the decision refuses', async () => {
    const animal = await store.add();
    expect(await store.eventsOf(() => store.statesOf(animal.id))).toEqual([]);
    expect(await store.animals.findById(animal.id)).toEqual(animal);
    expect(await store.animals.list({ ids: [animal.id], limit: 1 })).toEqual([animal]);
  });

  it('are decided one after another and once each, however many are made at once, so that none is lost', async () => {
    const { id } = await store.add({ name: '0' });
    let decisions = 0;
    await atOnce(10, () =>
      store.animals.change(id, ({ animal }) => {
        decisions += 1;
        return eventless({ ...stored(animal), name: String(Number(animal?.name) + 1) });
      }),
    );
    expect([decisions, (await store.animals.findById(id))?.name]).toEqual([10, '10']);
  });

  it('and withdrawals are seen by every reader that begins afterwards', async () => {
    const { id } = await store.add();
    const readers = () =>
      atOnce(8, async (index) =>
        index % 2 ? [await store.animals.findById(id)] : store.animals.list({ after: (id - 1n) as AnimalId, limit: 1 }),
      );
    for (let round = 0; round < 8; round += 1) {
      // Those of the round before still read while the animal changes.
      const before = readers();
      const changed: Animal = { id, name: `Luna ${round}`, categoryId: 1n as CategoryId, status: 'available' };
      await store.animals.change(id, () => eventless(changed));
      for (const read of await readers()) expect(read).toEqual([changed]);
      await before;
    }
    const before = readers();
    await store.withdraw(id);
    for (const read of await readers()) expect(read[0]?.id === id).toBe(false);
    await before;
  });
}

function names({ it, expect }: TestFramework, store: Store): void {
  const category = 4_712n as CategoryId;
  /** Only this test's animals: their names begin with a word of their own. */
  const listed = (word: string, query: Partial<NamedAnimalsQuery> = {}) =>
    store.animals.listByName({ prefix: animalNameKey(word), limit: 1_000, most: 1_000, ...query });
  const addAll = async (...all: readonly string[]) => {
    const added: Animal[] = [];
    for (const each of all) added.push(await store.add({ name: each }));
    return added;
  };
  const namesOf = (animals: readonly Animal[]) => animals.map(({ name }) => name);

  it('are found by their beginning, in any script and without regard to case and normal form', async () => {
    await addAll(...['Étoile', 'étoile 2', 'E\u0301TOILE', 'Etoile', 'Барсик', 'БАРС', 'Бар']);
    await addAll(...['露娜娜', '露娜', '露', 'Τάσος', 'ΤΆΣΟΣ Β']);
    expect(namesOf((await listed('étoile')).animals)).toEqual(['Étoile', 'E\u0301TOILE', 'étoile 2']);
    expect(namesOf((await listed('барс')).animals)).toEqual(['БАРС', 'Барсик']);
    expect(namesOf((await listed('露娜')).animals)).toEqual(['露娜', '露娜娜']);
    expect(namesOf((await listed('τάσος')).animals)).toEqual(['Τάσος', 'ΤΆΣΟΣ Β']);
    expect(namesOf((await listed('etoiles')).animals)).toEqual([]);
  });

  it('are in the order of the code points of their keys, then of the ids', async () => {
    const behind = ['zz', 'zz', 'ZZ a', 'zz\ud7ff', 'zz\ue000', 'zz\ufffd', 'zz🐈', 'zz\u{10ffff}', 'zz\u{10ffff}🐈'];
    const added = await addAll(...behind.toReversed(), 'zy', 'z{');
    const { animals } = await listed('zz');
    expect(namesOf(animals)).toEqual(behind);
    expect(animals[0]).toEqual(added[7]);
    for (const end of ['\ud7ff', '\u{10ffff}', '🐈'])
      expect((await listed(`zz${end}`)).animals).toEqual(animals.filter(({ name }) => name.startsWith(`zz${end}`)));
  });

  it('%, _, \\ and every other character are themselves', async () => {
    const all = await addAll(...TEXTS.map((text) => `wild ${text}`), 'wild %', 'wild \\', 'wildx');
    for (const { id, name } of all) expect(idsOf((await listed(name)).animals)).toContain(id);
    expect(namesOf((await listed('wild %')).animals)).toEqual(['wild %']);
    expect(namesOf((await listed('wild_')).animals)).toEqual([]);
  });

  it('are stored and found however long they and their keys are', async () => {
    // The key of the first is longer than its name, and that of the second has the most bytes.
    for (const character of ['\u1fb7', '\u{1d160}', '\u{1d1bb}', '🐈']) {
      const name = character.repeat(255);
      const animal = await store.add({ name });
      expect(idsOf((await listed(name)).animals)).toEqual([animal.id]);
    }
  });

  it('go on behind an animal, and only those that match each filter are listed', async () => {
    const added = await addAll(...Array.from({ length: 9 }, (_, index) => `Filo ${Math.floor(index / 3)}`));
    const ids = idsOf(added);
    const sold = added
      .filter((_, index) => index % 2 === 0)
      .map((animal): Animal => ({ ...animal, status: 'sold', categoryId: category }));
    for (const animal of sold) await store.animals.change(animal.id, () => eventless(animal));
    const after = { nameKey: 'filo 1', id: present(ids[4]) };
    expect(idsOf((await listed('filo')).animals)).toEqual(ids);
    expect(idsOf((await listed('filo', { after: { nameKey: 'fil', id: present(ids[8]) } })).animals)).toEqual(ids);
    expect(await listed('filo', { limit: 2 })).toEqual({ animals: [sold[0], added[1]], readTo: undefined });
    expect(idsOf((await listed('filo', { after })).animals)).toEqual(ids.slice(5));
    expect(
      idsOf((await listed('filo', { after, ids: [...ids.slice(3, 7), ...UNKNOWN] as AnimalId[] })).animals),
    ).toEqual(ids.slice(5, 7));
    for (const filter of [
      { status: 'sold' } as const,
      { categoryIds: [category, category] },
      { status: 'sold', categoryIds: [category] } as const,
    ]) {
      expect((await listed('filo', filter)).animals).toEqual(sold);
      expect((await listed('filo', { ...filter, after, limit: 1 })).animals).toEqual([sold[3]]);
      expect((await listed('filo', { ...filter, ids: ids.slice(0, 2) })).animals).toEqual([sold[0]]);
    }
  });

  it('are read up to a number, and the list tells where it ended', async () => {
    const added = await addAll('Cut a', 'Cut b', 'Cut c', 'Cut d');
    const at = (index: number) => ({ nameKey: `cut ${'abcd'[index]}`, id: present(added[index]).id });
    const page = (query: Partial<NamedAnimalsQuery>) => listed('cut', query);
    const nothing = { status: 'sold', most: 2 } as const;
    expect(await page(nothing)).toEqual({ animals: [], readTo: at(1) });
    expect(await page({ ...nothing, after: at(1) })).toEqual({ animals: [], readTo: at(3) });
    expect(await page({ ...nothing, after: at(2) })).toEqual({ animals: [], readTo: undefined });
    expect(await page({ most: 2 })).toEqual({ animals: added.slice(0, 2), readTo: at(1) });
    expect(await page({ most: 2, limit: 1 })).toEqual({ animals: added.slice(0, 1), readTo: undefined });
  });

  it('follow changes and withdrawals', async () => {
    const animal = present((await addAll('Rename me'))[0]);
    const renamed = { ...animal, name: 'Nuevo' };
    await store.animals.change(animal.id, () => eventless(renamed));
    expect((await listed('rename')).animals).toEqual([]);
    expect((await listed('NUEVO')).animals).toEqual([renamed]);
    await store.withdraw(animal.id);
    expect((await listed('nuevo')).animals).toEqual([]);
  });

  it('are found of animals that are added at once, and in a transaction', async () => {
    const added = await atOnce(30, (index) => store.add({ name: `Many ${index}` }));
    added.push(await store.transact((transaction) => store.animals.add(luna({ name: 'Many' }), transaction)));
    expect(idsOf((await listed('many')).animals).sort()).toEqual(idsOf(added).sort());
  });
}

function withdrawals({ it, expect }: TestFramework, store: Store): void {
  it('hide the animal from every method, and leave others as they are', async () => {
    const [{ id }, bystander] = [await store.add({ status: 'sold' }), await store.add()];
    await store.withdraw(id);
    expect(await store.animals.findById(id)).toBeUndefined();
    expect(await store.animals.findById(bystander.id)).toEqual(bystander);
    expect(await store.statesOf(id)).toEqual([NONE, NONE]);
    const after = (id - 1n) as AnimalId;
    const filters = [{}, { status: 'sold' as const }, { ids: [id] }, { categoryIds: [1n as CategoryId] }];
    for (const query of filters.map((filter) => ({ ...filter, after, limit: 10 }))) {
      const found = (await store.animals.list(query)).filter((animal) => animal.id === id);
      expect({ query, found }).toEqual({ query, found: [] });
    }
  });

  it('never free the id, also if it is the last one', async () => {
    const { id } = await store.add();
    await store.withdraw(id);
    expect((await store.add()).id > id).toBe(true);
  });

  it('are decided once each, and one is made, however many are made at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await store.add();
      let decisions = 0;
      const { values, reasons } = await race(10, () =>
        store.animals.withdraw(id, NOON, ({ animal }) => {
          decisions += 1;
          return eventless(stored(animal));
        }),
      );
      expect([decisions, values.length]).toEqual([10, 1]);
      for (const reason of reasons) expect(reason).toBe(REFUSAL);
    }
  });
}
