import { expect, it } from '@jest/globals';
import { instant, later } from '@adoption-store/domain';
import { ExpiringMap } from './expiring-map.js';

const LENGTH = 1_000;
const start = instant(50 * LENGTH);

/** A map in which each of the times was set once, in this order. The times are relative to the start of a window. */
function mapOf(...times: number[]): ExpiringMap<number, string> {
  const map = new ExpiringMap<number, string>(LENGTH);
  for (const time of times) map.set(time, `set at ${time}`, later(start, time));
  return map;
}

it('an entry is kept for the rest of its window and the next one', () => {
  expect(mapOf(500, 2 * LENGTH - 1).get(500)).toBe('set at 500');
  expect(mapOf(500, LENGTH, 2 * LENGTH - 1).get(500)).toBe('set at 500');
});

it('a window begins with its first millisecond', () => {
  expect(mapOf(0, LENGTH, 2 * LENGTH).get(0)).toBeUndefined();
  expect(mapOf(0, LENGTH - 1, LENGTH).get(0)).toBe('set at 0');
});

it('the size counts the entries of both windows', () => {
  expect(mapOf(0, 1, LENGTH, 2 * LENGTH - 1).size).toBe(4);
  expect(mapOf(0, 1, LENGTH, 2 * LENGTH).size).toBe(2);
});

it('a clock that goes back by a window drops nothing, however often', () => {
  const map = mapOf(LENGTH - 1, LENGTH, 0, LENGTH, 0, LENGTH);
  expect([map.get(LENGTH - 1), map.size]).toEqual([`set at ${LENGTH - 1}`, 3]);
});

it('a clock that was ahead by more than that begins new windows once it is corrected', () => {
  const map = mapOf(10 * LENGTH, 0, LENGTH);
  expect(map.get(10 * LENGTH)).toBeUndefined();
  expect(map.get(0)).toBe('set at 0');
});
