import { QUERY_TIMEOUT } from '../src/database/on-database.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { DomainError, kernelErrors } from '@adoption-store/domain';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Batch } from '../src/database/batch.js';
/** A batch that runs a single item with the same function as many. */
function batchOf<Result>(
  run: (items: readonly number[]) => Promise<readonly Result[]>,
  most?: number,
  atOnce?: number,
) {
  return new Batch<number, Result>(async (item) => (await run([item]))[0] as Result, run, most, atOnce);
}

/** A batch whose runs are ended by the test. */
function controlled(most?: number, atOnce?: number) {
  const runs: { readonly items: readonly number[]; end(failure?: Error): void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      runs.push({
        items,
        end: (failure) => {
          if (failure === undefined) resolve(items.map((item) => `answer to ${item}`));
          else reject(failure);
        },
      });
    });
  return { batch: batchOf(run, most, atOnce), runs };
}

/** A batch waits a turn for more items. */
const settled = async () => {
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
};
const unavailable = () => new DomainError(kernelErrors.service_unavailable, 'not now');

describe('a batch', () => {
  beforeAll(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  });
  afterAll(() => {
    jest.useRealTimers();
  });

  it('starts the next run, with all waiting items, only after the previous one; a started run takes no more items', async () => {
    const { batch, runs } = controlled();
    const answers = [1, 2, 3].map((item) => batch.add(item));
    expect(runs).toMatchObject([{ items: [1] }]);
    runs[0]?.end();
    await settled();
    expect(runs).toMatchObject([{ items: [1] }, { items: [2, 3] }]);
    const late = batch.add(4);
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await settled();
    runs[2]?.end();
    expect(await Promise.all([...answers, late])).toEqual([1, 2, 3, 4].map((item) => `answer to ${item}`));
  });

  it('runs no more items at once than it may, in order of arrival', async () => {
    const { batch, runs } = controlled(32);
    const answers = Array.from({ length: 70 }, (_, item) => batch.add(item));
    for (let run = 0; !batch.isIdle; run += 1) {
      runs[run]?.end();
      await settled();
    }
    expect(runs.map(({ items }) => items.length)).toEqual([1, 32, 32, 5]);
    expect(runs.flatMap(({ items }) => items)).toEqual(Array.from({ length: 70 }, (_, item) => item));
    expect(await Promise.all(answers)).toHaveLength(70);
  });

  it('shares the items under way evenly among the runs that it may have at a time, unless they are few', async () => {
    const { batch, runs } = controlled(32, 2);
    const begin = (count: number) => Array.from({ length: count }, (_, item) => batch.add(item));
    const answers = begin(1);
    const sizes = () => runs.map(({ items }) => items.length);
    answers.push(...begin(5));
    await settled();
    expect(sizes()).toEqual([1, 5]);
    answers.push(...begin(20));
    await settled();
    expect(sizes()).toEqual([1, 5]);
    runs[0]?.end();
    await settled();
    expect(sizes()).toEqual([1, 5, 13]);
    runs[1]?.end();
    await settled();
    expect(sizes()).toEqual([1, 5, 13, 7]);
    answers.push(...begin(100));
    for (let run = 2; !batch.isIdle; run += 1) {
      runs[run]?.end();
      await settled();
    }
    expect(sizes()).toEqual([1, 5, 13, 7, 32, 32, 32, 4]);
    expect(await Promise.all(answers)).toHaveLength(126);
  });

  it('fails all of its items, and no others, while the database is down', async () => {
    const { batch, runs } = controlled();
    const first = batch.add(0);
    const failing = Promise.allSettled([batch.add(1), batch.add(2)]);
    runs[0]?.end();
    await settled();
    const next = batch.add(3);
    runs[1]?.end(unavailable());
    expect(await failing).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await settled();
    expect(runs[2]?.items).toEqual([3]);
    runs[2]?.end();
    expect(await Promise.all([first, next])).toEqual(['answer to 0', 'answer to 3']);
  });

  it('fails only the bad item of a batch', async () => {
    const ran: number[][] = [];
    const batch = batchOf<number>(async (items) => {
      ran.push([...items]);
      await settled();
      if (items.includes(2)) throw new Error('2 is bad');
      return items;
    });
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((item) => batch.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(ran).toEqual([[0], [1, 2, 3], [1], [2], [3]]);
  });

  it('fails an item with the error that its run has for it, and no other', async () => {
    const ran: number[][] = [];
    const batch = new Batch<number, number>(
      async (item) => item,
      async (items) => {
        ran.push([...items]);
        return items.map((item) => (item === 2 ? new Error('2 is bad') : item));
      },
    );
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((item) => batch.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(ran).toEqual([[1, 2, 3]]);
  });

  it('refuses an overdue item without running it, also when it runs the items of a failed run one by one', async () => {
    const { batch, runs } = controlled();
    const first = batch.add(0);
    const overdue = [1, 2].map((item) =>
      expect(batch.add(item)).rejects.toMatchObject({ code: 'service_unavailable' }),
    );
    jest.advanceTimersByTime(QUERY_TIMEOUT - 1);
    const intime = Promise.allSettled([batch.add(3), batch.add(4)]);
    jest.advanceTimersByTime(1);
    runs[0]?.end();
    await first;
    await settled();
    await Promise.all(overdue);
    expect(runs.slice(1)).toMatchObject([{ items: [3, 4] }]);
    runs[1]?.end(new Error('3 is bad'));
    await settled();
    expect(runs[2]?.items).toEqual([3]);
    jest.advanceTimersByTime(QUERY_TIMEOUT - 1);
    await settled();
    expect(await intime).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(runs).toHaveLength(3);
  });

  it('answers an item that becomes overdue while the next run is being prepared', async () => {
    const { batch, runs } = controlled();
    const answers = [0, 1, 2, 3].map((item) => batch.add(item));
    // Each call of the clock returns a millisecond more.
    let time = performance.now() + QUERY_TIMEOUT - 3.5;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 1));
    runs[0]?.end();
    await settled();
    now.mockRestore();
    await settled();
    for (const run of runs.slice(1)) run.end();
    jest.advanceTimersByTime(QUERY_TIMEOUT);
    let isSettled = false;
    void Promise.allSettled(answers).then(() => (isSettled = true));
    await settled();
    expect(isSettled).toBe(true);
  });

  it('belongs to the trace of its first caller', async () => {
    const caller = new AsyncLocalStorage<string>();
    const callers: (string | undefined)[] = [];
    const batch = batchOf<number>(async (items) => {
      callers.push(caller.getStore());
      await settled();
      return items;
    });
    const watch = () => undefined;
    // Traces are bound only while somebody watches this channel.
    subscribe('tracing:adoption-store:query:start', watch);
    const called = ['Ada', 'Ben', 'Cem'].map((name, index) => caller.run(name, () => batch.add(index)));
    await Promise.all(called);
    unsubscribe('tracing:adoption-store:query:start', watch);
    expect(callers).toEqual(['Ada', 'Ben']);
  });
});
