import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Bell, pause, within } from './pauses.js';
import { repeat } from './repeat.js';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

/** Repeats until stopped, with the given result for each round. */
function repeating(...rounds: (boolean | Error)[]) {
  const stopping = new AbortController();
  const told: string[] = [];
  let begun = 0;
  const ended = repeat(
    {
      async work() {
        begun += 1;
        const outcome = rounds.shift() ?? false;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      rest: (signal) => pause(1_000, signal),
      onSuccess: () => told.push('success'),
      onFailure: (error) => told.push(String(error)),
    },
    stopping.signal,
  );
  return {
    told,
    begun: () => begun,
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

describe('a repeated task', () => {
  it('continues at once while there may be more, and then rests', async () => {
    const { begun, stop } = repeating(true, true, false, false);
    await jest.advanceTimersByTimeAsync(999);
    expect(begun()).toBe(3);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun()).toBe(4);
    await stop();
  });

  it('continues after every failure, with pauses from 250 ms that double up to 5 s', async () => {
    const failure = new Error('no database');
    const { begun, told, stop } = repeating(...Array.from({ length: 8 }, () => failure));
    const pauses: number[] = [];
    for (let round = 1; round <= 7; round += 1) {
      let waited = 0;
      for (; begun() === round; waited += 10) await jest.advanceTimersByTimeAsync(10);
      pauses.push(waited);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(told).toEqual([...Array.from({ length: 8 }, () => 'Error: no database'), 'success']);
    await stop();
  });

  it('starts with the shortest pause again after a success', async () => {
    const failure = new Error('no database');
    const { begun, stop } = repeating(failure, failure, true, failure, false);
    await jest.advanceTimersByTimeAsync(750);
    expect(begun()).toBe(4);
    await jest.advanceTimersByTimeAsync(250);
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

describe('a bell', () => {
  const never = new AbortController().signal;

  /** The numbers of the waiters that were woken, out of `count`. */
  function waiters(bell: Bell, count: number): number[] {
    const woken: number[] = [];
    for (let index = 0; index < count; index += 1) void bell.heard(never).then(() => woken.push(index));
    return woken;
  }

  it('wakes one waiter for each ring', async () => {
    const bell = new Bell();
    const woken = waiters(bell, 3);
    bell.ring();
    bell.ring();
    await jest.advanceTimersByTimeAsync(0);
    expect(woken).toEqual([0, 1]);
  });

  it('wakes the next waiter once, however often it rang before', async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    const woken = waiters(bell, 2);
    await jest.advanceTimersByTimeAsync(0);
    expect(woken).toEqual([0]);
  });

  it('does not spend a ring on a waiter that has given up', async () => {
    const bell = new Bell();
    const stopping = new AbortController();
    const gaveUp = bell.heard(stopping.signal);
    stopping.abort();
    await gaveUp;
    const woken = waiters(bell, 1);
    bell.ring();
    await jest.advanceTimersByTimeAsync(0);
    expect(woken).toEqual([0]);
  });
});

describe('work with a time limit', () => {
  it('gives its result, or nothing if it fails or takes longer, and leaves no timer', async () => {
    expect(await within(500, Promise.resolve('answer'))).toBe('answer');
    expect(await within(500, Promise.reject<string>(new Error('no database')))).toBeUndefined();
    const late = within(500, new Promise<string>(() => undefined));
    await jest.advanceTimersByTimeAsync(500);
    expect(await late).toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });
});
