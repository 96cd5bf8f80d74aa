import { inMemoryApplication } from '../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import { INT64_MAX, INT64_MIN } from '../kernel/int64.js';
import { nameKey } from '../kernel/text.js';
import type { CategoryId } from '../animals/animal.js';
import { decisions, unchanged } from '../testing/index.js';
import {
  type Category,
  decideAddition,
  decideNaming,
  decideCategoryDeletion,
  type Removal,
  type DeletionState,
} from './category.js';

const open = () => inMemoryApplication();
const invalid = (rule: string) =>
  expect.objectContaining({ code: 'invalid_parameter', message: expect.stringContaining(rule) });

describe('names of categories', () => {
  it.each([
    ['Cats', 'cATS'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
    ['σ', 'ς'],
    ['Τάσος', 'τάσοσ'],
    ['ﬁsh', 'FISH'],
    ['Ǆ', 'ǆ'],
    ['ı', 'I'],
  ])('%s and %s are the same', (one, other) => {
    expect(nameKey(one)).toBe(nameKey(other));
  });

  it('each letter is the same in upper and in lower case', () => {
    const letters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCodePoint(code));
    const differs = (letter: string) =>
      [letter.toUpperCase(), letter.toLowerCase(), nameKey(letter)].some((other) => nameKey(other) !== nameKey(letter));
    expect(letters.filter(differs)).toEqual([]);
  });

  it.each([
    ['i', 'İ'],
    ['Cats', 'Cat'],
    ['Cats', ' Cats'],
    ['e', 'é'],
  ])('%s and %s are not', (one, other) => {
    expect(nameKey(one)).not.toBe(nameKey(other));
  });

  it.each(['', ' \u3000', 'x'.repeat(256), 'a\0b', '\ud800'])('%j is refused, as of an animal', async (name) => {
    const { addCategory, nameCategory, listCategories } = open();
    await expect(addCategory.execute({ name })).rejects.toEqual(invalid('name must'));
    await expect(nameCategory.execute({ id: 1n, name })).rejects.toEqual(invalid('name must'));
    expect((await listCategories.execute()).items).toEqual([]);
  });
});

const category = (id: bigint, name: string): Category => ({ id: id as CategoryId, name });
const [cats, dogs] = [category(1n, 'Cats'), category(2n, 'Dogs')];

describe('an addition', () => {
  const given = decisions({ it, expect }, decideAddition);
  const added = given('that nobody has the name', { id: cats.id, namesake: undefined });
  added.when('Cats are added', { name: 'Cats' }).then('they have the new id', cats);
  const taken = given('that another has the name', { id: dogs.id, namesake: cats });
  taken.when('CATS are added', { name: 'CATS' }).thenRefused('category_name_taken', '"CATS"');
});

describe('a naming', () => {
  const given = decisions({ it, expect }, decideNaming);
  const [asCats, asDogs] = [category(1n, 'Cats'), category(1n, 'Dogs')];
  const isNew = (name: string) => ({ category: { id: cats.id, name }, isNew: true });
  const renamed = (name: string) => ({ category: { id: cats.id, name }, isNew: false });
  const [none, asSeen, otherwise] = [undefined, cats, dogs].map((each) => unchanged(each));

  const unnamed = given('an id without a name', { category: undefined, namesake: undefined });
  unnamed.when('it is named', asCats).then('it is new', isNew('Cats'));
  unnamed.when('it must have none', { ...asCats, condition: none }).then('it is new', isNew('Cats'));
  unnamed.when('it must be as it was seen', { ...asCats, condition: asSeen }).thenRefused('precondition_failed');

  const named = given('an id with a name', { category: cats, namesake: undefined });
  named.when('it is renamed', asDogs).then('it has the other name', renamed('Dogs'));
  named.when('it must be as it was seen', { ...asDogs, condition: asSeen }).then('so it is', renamed('Dogs'));
  named.when('it must have none', { ...asDogs, condition: none }).thenRefused('precondition_failed');
  named.when('it must be otherwise', { ...asDogs, condition: otherwise }).thenRefused('precondition_failed');

  const itself = given('a category that has the name already', { category: cats, namesake: cats });
  itself.when('its case changes', { id: cats.id, name: 'CATS' }).then('it does', renamed('CATS'));
  itself.when('it must be as it was seen', { ...asCats, condition: asSeen }).then('nothing changes', renamed('Cats'));

  const taken = given('a name that another category has', { category: cats, namesake: dogs });
  taken.when('it is given', asDogs).thenRefused('category_name_taken', '"Dogs"');
  taken.when('it is given to what was seen', { ...asDogs, condition: asSeen }).thenRefused('category_name_taken');
  taken.when('it is given to another', { ...asDogs, condition: otherwise }).thenRefused('precondition_failed');
  const takenOfNew = given('a name that another has, and an id without one', { category: undefined, namesake: dogs });
  takenOfNew.when('it is given', asDogs).thenRefused('category_name_taken');
});

describe('a removal', () => {
  const given = decisions({ it, expect }, (state: DeletionState, command: Removal) => {
    decideCategoryDeletion(state, command);
  });
  const { id } = cats;
  const unused = given('a category that no animal has', { category: cats, isUsed: false });
  unused.when('it is removed', { id }).then('it is', undefined);
  unused.when('it must be as it was seen', { id, condition: unchanged(cats) }).then('it is', undefined);
  unused.when('it must be otherwise', { id, condition: unchanged(dogs) }).thenRefused('precondition_failed');
  const used = given('a category that an animal has', { category: cats, isUsed: true });
  used.when('it is removed', { id }).thenRefused('category_in_use', 'category 1');
  used.when('it must be otherwise', { id, condition: unchanged(dogs) }).thenRefused('precondition_failed');
  const unknown = given('no category', { category: undefined, isUsed: true });
  unknown.when('it is removed', { id }).thenRefused('not_found', 'id 1');
  unknown.when('it must be as it was seen', { id, condition: unchanged(cats) }).thenRefused('not_found');
});

describe('the categories', () => {
  it('name any int64, and no other id', async () => {
    const { nameCategory } = open();
    for (const id of [INT64_MIN, INT64_MAX]) {
      const named = { id, name: `Kind ${id}` };
      expect(await nameCategory.execute(named)).toEqual({ category: named, isNew: true });
    }
    for (const id of [INT64_MIN - 1n, INT64_MAX + 1n])
      await expect(nameCategory.execute({ id, name: 'Cats' })).rejects.toEqual(invalid('categoryId must'));
  });

  it('are listed in pages of 20, or those of at most 100 ids', async () => {
    const { addCategory, listCategories } = open();
    for (let added = 1; added <= 21; added += 1) await addCategory.execute({ name: `Kind ${added}` });
    expect(await listCategories.execute()).toMatchObject({ items: { length: 20 }, next: 20n });
    expect(await listCategories.execute({ after: 20n })).toMatchObject({ items: [{ id: 21n }], next: undefined });
    const ids = Array.from({ length: 101 }, (_, index) => BigInt(index + 20));
    expect((await listCategories.execute({ ids: ids.slice(0, 100) })).items.map(({ id }) => id)).toEqual([20n, 21n]);
    await expect(listCategories.execute({ ids })).rejects.toEqual(invalid('id must be given at most 100'));
  });

  it('filter the list of animals, at most 100 of them', async () => {
    const { addAnimal, listAnimals } = open();
    for (const categoryId of [1n, 2n, 3n]) await addAnimal.execute({ name: 'Luna', categoryId });
    const categoryIds = Array.from({ length: 101 }, (_, index) => BigInt(index + 2));
    expect((await listAnimals.execute({ categoryIds: categoryIds.slice(0, 100) })).items).toHaveLength(2);
    await expect(listAnimals.execute({ categoryIds })).rejects.toEqual(invalid('categoryId must be given at most 100'));
  });
});
