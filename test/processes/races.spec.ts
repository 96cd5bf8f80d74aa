import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '@adoption-store/test-support';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Milliseconds of a round of lists, at least. */
const LIST_ROUND = 2_000;
const WRITERS = 8;
const READERS = 64;
const ANIMALS = 400;

interface Pet {
  readonly id: number;
  /** Counts the changes of this animal. */
  readonly categoryId: number;
  readonly status: string;
}

/** The changes of an animal. Times are of `performance.now()`. */
interface Story {
  /** When the response to each change arrived, by the count that the change wrote. */
  readonly changedAt: number[];
  withdrawnAt: number;
}

describe('two replicas on one PostgreSQL', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas();
  });
  afterAll(() => replicas.close());

  /** Each writer has its own animals, so it knows the order of their changes. */
  async function write(writer: number, stories: ReadonlyMap<number, Story>, isOver: () => boolean): Promise<void> {
    const own = [...stories].filter((_story, index) => index % WRITERS === writer);
    while (!isOver()) {
      const place = Math.floor(Math.random() * own.length);
      const [id, story] = own[place] ?? [0, { changedAt: [], withdrawnAt: 0 }];
      const count = story.changedAt.length;
      const url = `${replicas.originOf(count)}/v1/pets/${id}`;
      if (own.length > 5 && Math.random() < 0.05) {
        expect(await replicas.send('DELETE', url)).toMatchObject({ status: 204 });
        story.withdrawnAt = performance.now();
        own.splice(place, 1);
      } else {
        const body = { categoryId: count, status: count % 2 === 1 ? 'pending' : 'available' };
        expect(await replicas.send('PATCH', url, body)).toMatchObject({ status: 200 });
        story.changedAt[count] = performance.now();
      }
    }
  }

  /** Reads all pages. Returns what no page may show, and the number of animals seen. */
  async function read(reader: number, stories: ReadonlyMap<number, Story>, isOver: () => boolean) {
    const wrong: string[] = [];
    let seen = 0;
    const filter = ['', '&status=available', '&status=pending'][reader % 3] ?? '';
    const first = `${replicas.originOf(reader)}/v1/pets?limit=${20 + (reader % 4) * 20}${filter}`;
    let url: string | undefined = first;
    while (!isOver()) {
      const sentAt = performance.now();
      const { text, link } = await replicas.send('GET', url ?? first);
      for (const pet of JSON.parse(text) as readonly Pet[]) {
        seen += 1;
        const story = stories.get(pet.id);
        const leftAt = Math.min(story?.changedAt[pet.categoryId + 1] ?? Infinity, story?.withdrawnAt ?? -Infinity);
        const isOther = pet.status !== (pet.categoryId % 2 === 1 ? 'pending' : 'available');
        if (leftAt < sentAt || isOther || !filter.endsWith(filter === '' ? '' : pet.status))
          wrong.push(`${JSON.stringify(pet)} was over ${sentAt - leftAt} ms before ${url ?? first} was sent`);
      }
      url = /^<([^>]+)>; rel="next"/.exec(link)?.[1];
    }
    return { wrong, seen };
  }

  it(`never list, for ${READERS} readers beside ${WRITERS} writers, an animal in a state that it had left before`, async () => {
    const stories = new Map<number, Story>();
    const animals = await ask<{ id: string }>(
      replicas.databaseUrl,
      `INSERT INTO animals (name, category_id, status)
        SELECT 'Luna', 0, 'available' FROM generate_series(1, ${ANIMALS}) RETURNING id`,
    );
    for (const { id } of animals) stories.set(Number(id), { changedAt: [-Infinity], withdrawnAt: Infinity });
    const begun = performance.now();
    const changes = () => [...stories.values()].reduce((sum, { changedAt }) => sum + changedAt.length - 1, 0);
    // On a slow machine a round takes longer, because few changes prove little.
    const isOver = () => performance.now() - begun > LIST_ROUND && changes() > 100;
    const reading = Array.from({ length: READERS }, (_, reader) => read(reader, stories, isOver));
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer, stories, isOver)));
    const lists = await Promise.all(reading);
    expect(lists.flatMap(({ wrong }) => wrong).slice(0, 5)).toEqual([]);
    expect(lists.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(1_000);
  });
});
