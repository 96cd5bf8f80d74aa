import { inMemoryApplication } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import type { Condition } from '../kernel/condition.js';
import { INT64_MAX, INT64_MIN } from '../kernel/int64.js';
import { decisions, unchanged } from '../testing/index.js';
import {
  type Animal,
  type AnimalChange,
  type AnimalEdit,
  type AnimalId,
  type AnimalState,
  type CategoryId,
  changedByOrder,
  decideChange,
  decideWithdrawal,
  newAnimal,
  PET_STATUSES,
  type PetStatus,
} from './animal.js';
import { ORDER_STATUSES } from '../orders/order.js';
import { type ImportRow, MAX_IMPORTED_ID } from './import-animals.js';

const cat = { name: 'Luna', categoryId: 1n };
const luna: Animal = { id: 3n as AnimalId, name: 'Luna', categoryId: 1n as CategoryId, status: 'available' };
const edit = (change: AnimalChange): AnimalEdit => ({ id: luna.id, change });
const [asSeen, otherwise] = [unchanged(luna), unchanged({ ...luna, name: 'Milo' })];
const invalid = (rule: string) =>
  expect.objectContaining({ code: 'invalid_parameter', kind: 'invalid', message: expect.stringContaining(rule) });

describe('an animal’s status', () => {
  const byOrders = {
    placed: 'available → pending',
    completed: 'pending → sold',
    cancelled: 'pending → available',
    expired: 'pending → available',
  };
  const byPersons = ['available → pending', 'pending → available'];
  const pairs = PET_STATUSES.flatMap((from) => PET_STATUSES.map((to) => [from, to] as [PetStatus, PetStatus]));
  it.each(pairs)('%s → %s is allowed only where the table says so', (from, to) => {
    const changed = { ...luna, status: to };
    for (const change of ORDER_STATUSES) {
      const byOrder = changedByOrder({ ...luna, status: from }, change);
      expect(byOrder?.status === to).toBe(byOrders[change] === `${from} → ${to}`);
    }
    const change = () =>
      decideChange({ animal: { ...luna, status: from }, isOrdered: false }, edit({ status: to })).animal;
    if (byPersons.includes(`${from} → ${to}`) || from === to) expect(change()).toEqual(changed);
    else expect(change).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
  });
});

describe('a change of a stored animal', () => {
  const given = decisions({ it, expect }, (state: AnimalState, command: AnimalEdit) => decideChange(state, command));
  const named = edit({ name: 'Milo' });
  const there = given('an animal', { animal: luna, isOrdered: false });
  const changed = (animal: Animal) => ({ animal, events: [{ type: 'pet.changed', data: animal }] as const });
  const milo = changed({ ...luna, name: 'Milo' });
  there.when('it gets a name', named).then('it has that and all else as before', milo);
  const same = edit({ name: 'Luna', categoryId: luna.categoryId, status: 'available' });
  there.when('it gets what it has', same).then('nothing has happened', { animal: luna, events: [] });
  there
    .when('it gets a category and a status', edit({ categoryId: 7n as CategoryId, status: 'pending' }))
    .then('it has both', changed({ ...luna, categoryId: 7n as CategoryId, status: 'pending' }));
  there.when('it is changed if it is as it was seen', { ...named, condition: asSeen }).then('it is changed', milo);
  there.when('it is changed if it is otherwise', { ...named, condition: otherwise }).thenRefused('precondition_failed');

  const missing = given('no animal', { animal: undefined, isOrdered: false });
  missing.when('it is changed', named).thenRefused('not_found', 'no animal has the id 3');
  missing.when('it is changed if it is as it was seen', { ...named, condition: asSeen }).thenRefused('not_found');

  const pending: Animal = { ...luna, status: 'pending' };
  const ordered = given('an animal that is ordered', { animal: pending, isOrdered: true });
  const mended = edit({ name: 'Milo', status: 'pending' });
  ordered.when('its name is mended', mended).then('it is', changed({ ...pending, name: 'Milo' }));
  const refusal = "an order for the animal 3 is placed, so its status can't be changed";
  ordered.when('it is made available', edit({ status: 'available' })).thenRefused('order_in_progress', refusal);
  ordered.when('it is made sold', edit({ status: 'sold' })).thenRefused('order_in_progress', refusal);
  ordered
    .when('its status is changed if it is as it was seen', { ...edit({ status: 'sold' }), condition: asSeen })
    .thenRefused('precondition_failed');

  given('a sold animal', { animal: { ...luna, status: 'sold' }, isOrdered: false })
    .when('it is made available', edit({ status: 'available' }))
    .thenRefused('invalid_transition', "status can't be changed from sold to available");
});

describe('a withdrawal', () => {
  const given = decisions({ it, expect }, (state: AnimalState, condition?: Condition<Animal>) =>
    decideWithdrawal(state, { id: luna.id, condition }),
  );
  const there = given('an animal', { animal: luna, isOrdered: false });
  const withdrawn = (animal: Animal) => ({ animal, events: [{ type: 'pet.removed', data: animal }] as const });
  there.when('it is withdrawn', undefined).then('it goes', withdrawn(luna));
  there.when('it is withdrawn if it is as it was seen', asSeen).then('it goes', withdrawn(luna));
  there.when('it is withdrawn if it is otherwise', otherwise).thenRefused('precondition_failed');
  given('a sold animal', { animal: { ...luna, status: 'sold' }, isOrdered: false })
    .when('it is withdrawn', undefined)
    .then('it goes', withdrawn({ ...luna, status: 'sold' }));
  const ordered = given('an animal that is ordered', { animal: luna, isOrdered: true });
  ordered
    .when('it is withdrawn', undefined)
    .thenRefused('order_in_progress', "an order for the animal 3 is placed, so it can't be withdrawn");
  ordered.when('it is withdrawn if it is otherwise', otherwise).thenRefused('precondition_failed');
  given('no animal', { animal: undefined, isOrdered: false })
    .when('it is withdrawn if it is otherwise', otherwise)
    .thenRefused('not_found', 'no animal has the id 3');
});

describe('a new animal', () => {
  it('is available unless another status is given', () => {
    expect(newAnimal(cat).status).toBe('available');
    expect(newAnimal({ ...cat, status: 'sold' }).status).toBe('sold');
  });

  it.each(['', ' ', '\t\n', '\u00a0', '\u3000\ufeff', '\u0085', '\u200b\u00ad\u{e0001}', '\u3164\u115f\u2800\ufe0f'])(
    'is refused with the blank name %j',
    (name) => {
      expect(() => newAnimal({ ...cat, name })).toThrow(invalid('name must have at least one visible'));
    },
  );

  it('counts the characters of a name as code points', () => {
    expect(newAnimal({ ...cat, name: '🐈'.repeat(255) }).name).toHaveLength(510);
    expect(() => newAnimal({ ...cat, name: '🐈'.repeat(256) })).toThrow(invalid('name must be at most 255'));
    expect(() => newAnimal({ ...cat, name: 'x'.repeat(256) })).toThrow(invalid('name must be at most 255'));
  });

  it('is refused with the problems of all its fields', () => {
    const wrong = { name: ' ', categoryId: INT64_MAX + 1n, status: 'lost' as PetStatus };
    const problems = Object.keys(wrong).map((field) => expect.objectContaining({ field }));
    expect(() => newAnimal(wrong)).toThrow(expect.objectContaining({ problems }));
  });

  it.each(['a\0b', '\ud800', 'x\udc00y'])('is refused with the name %j, which no UTF-8 text can hold', (name) => {
    expect(() => newAnimal({ ...cat, name })).toThrow(invalid('name must not contain'));
  });

  it.each([INT64_MIN, -1n, 0n, INT64_MAX])('takes the category %d', (categoryId) => {
    expect(newAnimal({ ...cat, categoryId }).categoryId).toBe(categoryId);
  });

  it.each([INT64_MIN - 1n, INT64_MAX + 1n])('is refused with the category %d', (categoryId) => {
    expect(() => newAnimal({ ...cat, categoryId })).toThrow(invalid('categoryId must be an integer'));
  });
});

it('a change of an animal has at least one field, is refused with the problems of all, and stores nothing', async () => {
  const { addAnimal, changeAnimal, getAnimal } = inMemoryApplication();
  const animal = await addAnimal.execute(cat);
  const empty = changeAnimal.execute({ id: animal.id, change: { name: undefined } });
  await expect(empty).rejects.toEqual(invalid('must have at least one of name, categoryId and status'));
  const change = { name: ' ', categoryId: INT64_MAX + 1n, status: 'lost' as PetStatus };
  const problems = Object.keys(change).map((field) => ({ field }));
  await expect(changeAnimal.execute({ id: animal.id, change })).rejects.toMatchObject({ problems });
  expect(await getAnimal.execute(animal.id)).toEqual(animal);
});

describe('the catalogue', () => {
  const storeOf = async (count: number) => {
    const application = inMemoryApplication();
    for (let added = 0; added < count; added += 1) await application.addAnimal.execute(cat);
    return application;
  };

  it('lists 20 animals unless another limit is given, and returns where the next page begins', async () => {
    const { listAnimals } = await storeOf(21);
    expect(await listAnimals.execute()).toMatchObject({ items: { length: 20 }, next: 20n });
    expect(await listAnimals.execute({ after: 20n })).toMatchObject({ items: [{ id: 21n }], next: undefined });
  });

  it.each([0, 101, 1.5, Number.NaN])('refuses the limit %d', async (limit) => {
    const { listAnimals } = await storeOf(0);
    await expect(listAnimals.execute({ limit })).rejects.toEqual(invalid('limit must be'));
  });

  it('lists those of at most 100 ids', async () => {
    const { listAnimals } = await storeOf(3);
    const ids = Array.from({ length: 101 }, (_, index) => BigInt(index + 2));
    expect((await listAnimals.execute({ ids: ids.slice(0, 100) })).items.map(({ id }) => id)).toEqual([2n, 3n]);
    await expect(listAnimals.execute({ ids })).rejects.toEqual(invalid('id must be given at most 100'));
  });
});

describe('imports and exports', () => {
  const { importAnimals, exportAnimals, addAnimal } = inMemoryApplication();

  async function* inParts(...parts: readonly (readonly ImportRow[])[]) {
    yield* parts;
  }
  const row = (line: number, changes: object = {}): ImportRow => ({ line, animal: { ...cat, ...changes } });
  const exported = async () => {
    const animals = [];
    for await (const part of exportAnimals.execute()) animals.push(...part);
    return animals;
  };

  describe('an import', () => {
    it('stores the animals of all rows, and says which ids they got', async () => {
      const rows = inParts([row(2), row(3, { id: 7n, status: 'sold' })], [], [row(5, { name: 'Milo' })]);
      const counts = { withId: 1, withoutId: 2, newIds: [8n, 9n], refused: { first: [], count: 0 } };
      expect(await importAnimals.execute({ rows })).toEqual({ isStored: true, ...counts });
      expect(await exported()).toEqual([
        { id: 7n, name: 'Luna', categoryId: 1n, status: 'sold' },
        { id: 8n, name: 'Luna', categoryId: 1n, status: 'available' },
        { id: 9n, name: 'Milo', categoryId: 1n, status: 'available' },
      ]);
    });

    it('names every refused row by its line, whoever refuses it, and stores nothing', async () => {
      const before = await exported();
      const rows = inParts(
        [row(2, { id: 7n }), row(3, { name: ' ' }), { line: 4, refusal: 'is not JSON' }],
        [row(6, { id: 0n }), row(7, { id: MAX_IMPORTED_ID + 1n }), row(8, { status: 'lost' }), row(9)],
      );
      const first = [
        { line: 2, reason: 'id 7 is that of another animal' },
        { line: 3, reason: 'name must have at least one visible character' },
        { line: 4, reason: 'is not JSON' },
        { line: 6, reason: 'id must be an integer from 1 to 4611686018427387904' },
        { line: 7, reason: 'id must be an integer from 1 to 4611686018427387904' },
        { line: 8, reason: 'status must be one of available, pending, sold' },
      ];
      expect(await importAnimals.execute({ rows })).toMatchObject({ isStored: false, refused: { count: 6, first } });
      expect(await exported()).toEqual(before);
    });

    it('names the first hundred refused rows, and counts all', async () => {
      const rows = inParts(Array.from({ length: 1_000 }, (_, index) => row(index + 1, { name: '' })));
      const { refused } = await importAnimals.execute({ rows });
      expect([refused.count, refused.first.length, refused.first.at(-1)?.line]).toEqual([1_000, 100, 100]);
    });

    it('accepts the largest id, after which there are still others', async () => {
      await importAnimals.execute({ rows: inParts([row(1, { id: MAX_IMPORTED_ID })]) });
      expect((await addAnimal.execute({ name: 'Luna', categoryId: 1n })).id).toBe(MAX_IMPORTED_ID + 1n);
    });

    it('that is only tried checks everything and stores nothing', async () => {
      const before = await exported();
      const tried = (...rows: ImportRow[]) => importAnimals.execute({ rows: inParts(rows), isDryRun: true });
      const report = { isStored: false, withId: 1, withoutId: 1, newIds: undefined, refused: { count: 0 } };
      expect(await tried(row(1), row(2, { id: 5n }))).toMatchObject(report);
      expect(await tried(row(1, { id: 7n }))).toMatchObject({ refused: { count: 1 } });
      expect(await exported()).toEqual(before);
    });
  });

  it('an export has every animal once, ascending by id, in parts of a thousand', async () => {
    const store = inMemoryApplication();
    for (let count = 0; count < 2_000; count += 1) await store.addAnimal.execute({ name: 'Luna', categoryId: 1n });
    const parts = [];
    for await (const part of store.exportAnimals.execute()) parts.push(part.map(({ id }) => Number(id)));
    expect(parts.map((part) => part.length)).toEqual([1_000, 1_000]);
    expect(parts.flat()).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
  });
});
