import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DelayedWork, portionsOf, writeBehind } from '../src/database/write-behind.js';
describe('a write behind', () => {
  let waiting: number[];
  let written: (readonly number[])[];
  let events: string[];
  /** How many writes succeed. */
  let succeeding: number;
  /** Milliseconds that each write takes. */
  let duration: number;
  /** How many writes have begun. */
  let begun: number;
  let writes: DelayedWork;

  beforeEach(() => {
    jest.useFakeTimers();
    [waiting, written, events, succeeding, duration, begun] = [[], [], [], Infinity, 0, 0];
    writes = writeBehind({
      name: 'Numbers',
      delay: 1_000,
      take: () =>
        portionsOf(waiting.splice(0), 2).map((portion) => ({
          write: async () => {
            begun += 1;
            if (begun > succeeding) throw new Error('away');
            if (duration > 0) await delay(duration);
            written.push(portion);
          },
          restore: () => waiting.push(...portion),
        })),
      onEvent: (event) => events.push(event),
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const add = (...numbers: number[]) => {
    waiting.push(...numbers);
    writes.soon();
  };
  const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const CANT_BE_SAVED = "Numbers can't be saved (away). They wait in memory, and are saved later.";
  const LOST = "Numbers can't be saved (away). The latest ones are lost.";

  it('one write ends before the next begins', async () => {
    duration = 5_000;
    add(1);
    await pass(1_000);
    add(2);
    await pass(4_999);
    expect(begun).toBe(1);
    await pass(1);
    expect(begun).toBe(2);
    await pass(5_000);
    expect(written).toEqual([[1], [2]]);
  });

  it('closing writes the rest, and nothing later', async () => {
    add(1);
    await writes.close();
    expect(written).toEqual([[1]]);
    add(2);
    await pass(5_000);
    expect(written).toHaveLength(1);
  });

  it.each([
    ['a first failure', 0, [LOST]],
    ['a repeated failure', 1_000, [CANT_BE_SAVED, LOST]],
  ])('closing logs what is lost, after %s, and sets no timer', async (_which, before, logged) => {
    succeeding = 0;
    add(1);
    await pass(before);
    await writes.close();
    expect(events).toEqual(logged);
    expect(jest.getTimerCount()).toBe(0);
  });
});
