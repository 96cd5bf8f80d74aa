import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BackgroundJobs, every } from './background-jobs.js';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

/** A job that repeats until it is stopped, with the given result for each round. */
function repeating(...rounds: (boolean | Error)[]) {
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const inc = jest.fn();
  const jobs = new BackgroundJobs(log, { inc });
  let begun = 0;
  jobs.start({
    name: 'test',
    async work() {
      begun += 1;
      const outcome = rounds.shift() ?? false;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    rest: every(1_000),
  });
  return { log, inc, begun: () => begun, stop: () => jobs.stop() };
}

describe('a background job', () => {
  it('continues at once while there may be more, and then rests', async () => {
    const { begun, stop } = repeating(true, true, false, false);
    await jest.advanceTimersByTimeAsync(999);
    expect(begun()).toBe(3);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun()).toBe(4);
    await stop();
  });

  it('continues after every failure, with pauses from 250 ms that double up to 5 s, and logs the first, one that lasts as an error, and the recovery', async () => {
    const failure = new Error('no database');
    const { begun, log, inc, stop } = repeating(...Array.from({ length: 8 }, () => failure));
    const pauses: number[] = [];
    for (let round = 1; round <= 7; round += 1) {
      let waited = 0;
      for (; begun() === round; waited += 10) await jest.advanceTimersByTimeAsync(10);
      pauses.push(waited);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    await jest.advanceTimersByTimeAsync(5_000);
    // The first call only makes the counter known.
    expect(inc).toHaveBeenCalledTimes(1 + 8);
    const about = { loop: 'test', reason: 'no database' };
    expect(log.warn.mock.calls).toEqual([[about, 'the loop failed and is retried until it works']]);
    expect(log.error.mock.calls).toEqual([[about, 'the loop still fails']]);
    expect(log.info.mock.calls).toEqual([[{ loop: 'test' }, 'the loop works again']]);
    await stop();
  });

  it('is no error that an operator must look at if it fails for less than five seconds', async () => {
    const failure = new Error('no database');
    const { log, stop } = repeating(failure, failure, failure, failure, failure);
    await jest.advanceTimersByTimeAsync(10_000);
    expect([log.warn, log.error, log.info].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
    await stop();
  });

  it('starts with the shortest pause again after a success', async () => {
    const failure = new Error('no database');
    const { begun, stop } = repeating(failure, failure, true, failure, false);
    await jest.advanceTimersByTimeAsync(750 + 250);
    expect(begun()).toBe(5);
    await stop();
  });

  it('ends at once when it is stopped, during a rest or a pause, and leaves no timer', async () => {
    for (const { stop, begun } of [repeating(false), repeating(new Error('no database'))]) {
      await jest.advanceTimersByTimeAsync(0);
      await stop();
      expect(begun()).toBe(1);
    }
    expect(jest.getTimerCount()).toBe(0);
  });
});
