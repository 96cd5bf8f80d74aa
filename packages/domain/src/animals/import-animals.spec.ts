import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { inMemoryPorts } from '../testing/in-memory-ports.js';
import { type ImportRow, MAX_IMPORTED_ID } from './import-animals.js';

const { importAnimals, exportAnimals, addAnimal } = createApplication(inMemoryPorts());

async function* inParts(...parts: readonly (readonly ImportRow[])[]) {
  yield* parts;
}
const row = (line: number, changes: object = {}): ImportRow => ({
  line,
  animal: { name: 'Luna', categoryId: 1n, ...changes },
});
const exported = async () => {
  const animals = [];
  for await (const part of exportAnimals.execute()) animals.push(...part);
  return animals;
};

describe('an import', () => {
  it('stores the animals of all rows, and says which ids they got', async () => {
    const report = await importAnimals.execute({
      rows: inParts([row(2), row(3, { id: 7n, status: 'sold' })], [], [row(5, { name: 'Milo' })]),
    });
    expect(report).toEqual({
      isStored: true,
      withId: 1,
      withoutId: 2,
      newIds: [8n, 9n],
      refused: { first: [], count: 0 },
    });
    expect(await exported()).toEqual([
      { id: 7n, name: 'Luna', categoryId: 1n, status: 'sold' },
      { id: 8n, name: 'Luna', categoryId: 1n, status: 'available' },
      { id: 9n, name: 'Milo', categoryId: 1n, status: 'available' },
    ]);
  });

  it('names every refused row by its line, whoever refuses it, and stores nothing', async () => {
    const before = await exported();
    const { isStored, refused } = await importAnimals.execute({
      rows: inParts(
        [row(2, { id: 7n }), row(3, { name: ' ' }), { line: 4, refusal: 'is not JSON' }],
        [row(6, { id: 0n }), row(7, { id: MAX_IMPORTED_ID + 1n }), row(8, { status: 'lost' }), row(9)],
        [row(10, { categoryId: 2n ** 63n })],
      ),
    });
    expect(isStored).toBe(false);
    expect(refused).toEqual({
      count: 7,
      first: [
        { line: 2, reason: 'id 7 is that of another animal' },
        { line: 3, reason: 'name must not be empty or only white space' },
        { line: 4, reason: 'is not JSON' },
        { line: 6, reason: 'id must be an integer from 1 to 4611686018427387904' },
        { line: 7, reason: 'id must be an integer from 1 to 4611686018427387904' },
        { line: 8, reason: 'status must be one of available, pending, sold' },
        { line: 10, reason: expect.stringMatching(/^categoryId must be an integer from -9223372036854775808 /) },
      ],
    });
    expect(await exported()).toEqual(before);
  });

  it('names the first hundred refused rows and counts all', async () => {
    const bad = Array.from({ length: 1_000 }, (_, index) => row(index + 1, { name: '' }));
    const { refused } = await importAnimals.execute({ rows: inParts(bad) });
    expect([refused.count, refused.first.length, refused.first.at(-1)?.line]).toEqual([1_000, 100, 100]);
  });

  it('accepts the largest id, after which there are still others', async () => {
    await importAnimals.execute({ rows: inParts([row(1, { id: MAX_IMPORTED_ID })]) });
    expect((await addAnimal.execute({ name: 'Luna', categoryId: 1n })).id).toBe(MAX_IMPORTED_ID + 1n);
  });

  it('that is only tried checks everything and stores nothing', async () => {
    const before = await exported();
    expect(await importAnimals.execute({ rows: inParts([row(1), row(2, { id: 5n })]), isDryRun: true })).toMatchObject({
      ...{ isStored: false, withId: 1, withoutId: 1, newIds: undefined, refused: { count: 0 } },
    });
    const { refused } = await importAnimals.execute({ rows: inParts([row(1, { id: 7n })]), isDryRun: true });
    expect(refused.count).toBe(1);
    expect(await exported()).toEqual(before);
  });

  it('fails as its rows do', async () => {
    async function* broken() {
      yield [row(1)];
      throw new Error('the file is gone');
    }
    await expect(importAnimals.execute({ rows: broken() })).rejects.toThrow('the file is gone');
  });
});

it('an export has every animal once, ascending by id, in parts of a thousand', async () => {
  const store = createApplication(inMemoryPorts());
  for (let count = 0; count < 2_000; count += 1) await store.addAnimal.execute({ name: 'Luna', categoryId: 1n });
  const parts = [];
  for await (const part of store.exportAnimals.execute()) parts.push(part.map(({ id }) => Number(id)));
  expect(parts.map((part) => part.length)).toEqual([1_000, 1_000]);
  expect(parts.flat()).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
});
