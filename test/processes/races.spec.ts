import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '@adoption-store/test-support';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Milliseconds of reading, at least. */
const DURATION = 2_000;
const WRITERS = 8;
const READERS = 64;

interface Pet {
  readonly id: number;
  /** Counts the changes of this animal. */
  readonly categoryId: number;
  readonly status: string;
}

/** When the response to each change of an animal arrived, by the count that the change wrote. */
type ChangedAt = number[];

const statusOf = (count: number) => (count % 2 === 1 ? 'pending' : 'available');

describe('two replicas on one PostgreSQL', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas();
  });
  afterAll(() => replicas.close());

  /** Nobody else changes this animal, so the order of its changes is known. */
  async function write(id: number, changedAt: ChangedAt, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const count = changedAt.length;
      const body = { categoryId: count, status: statusOf(count) };
      const answer = await replicas.send('PATCH', `${replicas.originOf(count)}/v1/pets/${id}`, body);
      expect(answer).toMatchObject({ status: 200 });
      changedAt[count] = performance.now();
    }
  }

  /** Lists animals again and again. Returns what no list may show, and the number of animals seen. */
  async function read(reader: number, animals: ReadonlyMap<number, ChangedAt>, isOver: () => boolean) {
    const wrong: string[] = [];
    let seen = 0;
    const status = ['', 'available', 'pending'][reader % 3] ?? '';
    const url = `${replicas.originOf(reader)}/v1/pets?limit=20${status && `&status=${status}`}`;
    while (!isOver()) {
      const sentAt = performance.now();
      const { text } = await replicas.send('GET', url);
      for (const pet of JSON.parse(text) as readonly Pet[]) {
        seen += 1;
        const leftAt = animals.get(pet.id)?.[pet.categoryId + 1] ?? Infinity;
        const isOther = pet.status !== statusOf(pet.categoryId) || !['', pet.status].includes(status);
        if (leftAt < sentAt || isOther)
          wrong.push(`${JSON.stringify(pet)} was over ${sentAt - leftAt} ms before ${url} was sent`);
      }
    }
    return { wrong, seen };
  }

  it(`never list, for ${READERS} readers beside ${WRITERS} writers, an animal in a state that it had left before`, async () => {
    const stored = await ask<{ id: string }>(
      replicas.databaseUrl,
      `INSERT INTO animals (name, name_key, category_id, status)
        SELECT 'Luna', 'luna', 0, 'available' FROM generate_series(1, ${WRITERS}) RETURNING id`,
    );
    const animals = new Map(stored.map(({ id }) => [Number(id), [-Infinity]]));
    const begun = performance.now();
    const changes = () => [...animals.values()].reduce((sum, changedAt) => sum + changedAt.length - 1, 0);
    // On a slow machine it takes longer, because few changes prove little.
    const isOver = () => performance.now() - begun > DURATION && changes() > 100;
    const reading = Array.from({ length: READERS }, (_, reader) => read(reader, animals, isOver));
    await Promise.all([...animals].map(([id, changedAt]) => write(id, changedAt, isOver)));
    const lists = await Promise.all(reading);
    expect(lists.flatMap(({ wrong }) => wrong).slice(0, 5)).toEqual([]);
    expect(lists.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(1_000);
  });
});
