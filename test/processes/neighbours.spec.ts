import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, expectDatabaseErrors } from '@adoption-store/test-support';
import { atEvenPace } from '../support/even-pace.js';
import { type Replicas, startReplicas } from '../support/replicas.js';

/** Requests that one account sends at once: a minute of the plan pro. */
const FLOOD = 300;
const GETS_PER_SECOND = 20;
/** Milliseconds. The slowest answer of a neighbour. On a busy machine: so many times that beside as many reads. */
const SLOWEST = 250;
const TIMES_BESIDE_READS = 5;
/** Floods after which a neighbour's refusal is the service's fault, not that of a busy machine. */
const FLOODS = 3;

// The flood's statements that are not done in time.
expectDatabaseErrors('55P03', '57014');

describe('one account that floods the store', () => {
  let replicas: Replicas;
  let neighbour: Readonly<Record<string, string>>;
  let origin = '';
  let petIds: readonly number[];

  beforeAll(async () => {
    replicas = await startReplicas();
    origin = replicas.originOf(0);
    neighbour = { authorization: `Bearer ${await replicas.issueKey('neighbour@example.com')}` };
    const rows = await ask<{ id: string }>(
      replicas.databaseUrl,
      `INSERT INTO animals (name, category_id, status)
        SELECT 'Luna', 1, 'available' FROM generate_series(1, ${FLOOD}) RETURNING id`,
    );
    petIds = rows.map(({ id }) => Number(id));
  });
  afterAll(() => replicas.close());

  const send = (method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>) =>
    replicas.send(method, `${origin}${path}`, body, headers);

  /** What the neighbour's reads and a few additions meet until it is over. */
  async function watchNeighbour(isOver: (begun: number) => boolean) {
    let sent = 0;
    const answers = await atEvenPace(GETS_PER_SECOND, isOver, async () => {
      const begun = performance.now();
      const { status } = await ((sent += 1) % GETS_PER_SECOND === 1
        ? send('POST', '/v1/pets', { name: 'Milo', categoryId: 1 }, neighbour)
        : send('GET', '/v1/pets?limit=5', undefined, neighbour));
      return { status, took: performance.now() - begun };
    });
    return {
      refused: answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201),
      slowest: Math.max(...answers.map(({ took }) => took)),
    };
  }

  async function flood(request: (index: number) => Promise<{ readonly status: number; readonly text: string }>) {
    let isOver = false;
    const sent = Promise.all(Array.from({ length: FLOOD }, (_, index) => request(index)));
    const watched = watchNeighbour(() => isOver);
    const answers = await sent;
    isOver = true;
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    return { answers, count, neighbour: await watched };
  }

  /** Floods until no neighbour is refused. */
  async function floodUntilNobodyIsRefused(request: Parameters<typeof flood>[0]) {
    for (let floods = 1; ; floods += 1) {
      const flooded = await flood(request);
      if (flooded.neighbour.refused.length === 0 || floods === FLOODS) return flooded;
    }
  }

  it.each([
    {
      what: 'changes of one animal',
      request: (index: number) => send('PATCH', `/v1/pets/${petIds[0]}`, { name: `Luna ${index}` }),
    },
    {
      what: 'new names of one category',
      request: (index: number) => send('PUT', '/v1/categories/1', { name: `Cats ${index}` }),
    },
  ])('with 300 $what at once waits for itself, and no neighbour for it', async ({ request }) => {
    const besideReads = await flood((index) => send('GET', `/v1/pets/${petIds[index]}`));
    const { answers, count, neighbour: disturbed } = await floodUntilNobodyIsRefused(request);
    expect(disturbed.refused).toEqual([]);
    expect(disturbed.slowest).toBeLessThan(Math.max(SLOWEST, TIMES_BESIDE_READS * besideReads.neighbour.slowest));
    const done = count(200) + count(201);
    expect(done).toBeGreaterThan(0);
    expect(done + count(503)).toBe(FLOOD);
    for (const { status, text } of answers) if (status === 503) expect(text).toContain('send fewer');
  });
});
