import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { INT64_MAX, INT64_MIN } from '../kernel/int64.js';
import { inMemoryPorts } from '../testing/index.js';
import { categoryNameKey } from './category.js';

const open = () => createApplication(inMemoryPorts());
const invalid = (rule: string) =>
  expect.objectContaining({ code: 'invalid_parameter', message: expect.stringContaining(rule) });

describe('names of categories', () => {
  it.each([
    ['Cats', 'cATS'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
    ['σ', 'ς'],
    ['ﬁsh', 'FISH'],
    ['Ǆ', 'ǆ'],
    ['ı', 'I'],
  ])('%s and %s are the same', (one, other) => {
    expect(categoryNameKey(one)).toBe(categoryNameKey(other));
  });

  it('each letter is the same in upper and in lower case', () => {
    const letters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCodePoint(code));
    const differs = (letter: string) =>
      [letter.toUpperCase(), letter.toLowerCase(), categoryNameKey(letter)].some(
        (other) => categoryNameKey(other) !== categoryNameKey(letter),
      );
    expect(letters.filter(differs)).toEqual([]);
  });

  it.each([
    ['i', 'İ'],
    ['Cats', 'Cat'],
    ['Cats', ' Cats'],
    ['e', 'é'],
  ])('%s and %s are not', (one, other) => {
    expect(categoryNameKey(one)).not.toBe(categoryNameKey(other));
  });

  it.each(['', ' \u3000', 'x'.repeat(256), 'a\0b', '\ud800'])('%j is refused, as of an animal', async (name) => {
    const { addCategory, nameCategory, listCategories } = open();
    await expect(addCategory.execute({ name })).rejects.toEqual(invalid('name must'));
    await expect(nameCategory.execute({ id: 1n, name })).rejects.toEqual(invalid('name must'));
    expect((await listCategories.execute()).items).toEqual([]);
  });
});

describe('the categories', () => {
  it('get back the category that was added, until it is removed', async () => {
    const { addCategory, getCategory, removeCategory } = open();
    const { id } = await addCategory.execute({ name: 'Cats' });
    expect(await getCategory.execute(id)).toEqual({ id, name: 'Cats' });
    await removeCategory.execute({ id });
    await expect(getCategory.execute(id)).rejects.toMatchObject({ code: 'not_found', kind: 'not_found' });
    await expect(removeCategory.execute({ id })).rejects.toMatchObject({ code: 'not_found', kind: 'not_found' });
  });

  it('name any int64, and say whether it had no name', async () => {
    const { nameCategory } = open();
    for (const id of [INT64_MIN, 0n, INT64_MAX]) {
      expect(await nameCategory.execute({ id, name: `Kind ${id}` })).toEqual({
        category: { id, name: `Kind ${id}` },
        isNew: true,
      });
      expect((await nameCategory.execute({ id, name: 'Cats' })).isNew).toBe(false);
      await nameCategory.execute({ id, name: `Kind ${id}` });
    }
    for (const id of [INT64_MIN - 1n, INT64_MAX + 1n]) {
      await expect(nameCategory.execute({ id, name: 'Cats' })).rejects.toEqual(invalid('categoryId must'));
    }
  });

  it('are listed in pages of 20, or those of at most 100 ids', async () => {
    const { addCategory, listCategories } = open();
    for (let added = 1; added <= 21; added += 1) await addCategory.execute({ name: `Kind ${added}` });
    const page = await listCategories.execute();
    expect(page.items).toHaveLength(20);
    expect(await listCategories.execute({ after: page.next })).toMatchObject({ items: [{ id: 21n }], next: undefined });
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
