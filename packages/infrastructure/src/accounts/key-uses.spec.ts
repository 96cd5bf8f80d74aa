import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type ApiKeyId, type Instant, instant } from '@adoption-store/domain';
import { KeyUses } from './key-uses.js';

type Written = [bigint, number][];

let written: Written[];
let isAway: boolean;
let uses: KeyUses;

beforeEach(() => {
  jest.useFakeTimers();
  [written, isAway] = [[], false];
  uses = new KeyUses(
    async (batch: ReadonlyMap<ApiKeyId, Instant>) => {
      if (isAway) throw new Error('away');
      written.push([...batch]);
    },
    () => undefined,
  );
});
afterEach(() => {
  jest.useRealTimers();
});

const record = (id: bigint, at: number) => {
  uses.record(id as ApiKeyId, instant(at));
};
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

it('writes the latest use of all keys together, at most every two seconds, and nothing without uses', async () => {
  for (let use = 0; use < 1_000; use += 1) record(BigInt(use % 2), use < 500 ? use : 0);
  await pass(1_999);
  expect(written).toEqual([]);
  await pass(60_000);
  expect(written).toEqual([
    [
      [0n, 498],
      [1n, 499],
    ],
  ]);
  record(1n, 600);
  await pass(2_000);
  expect(written[1]).toEqual([[1n, 600]]);
});

it('keeps uses that could not be written, and adds later ones', async () => {
  isAway = true;
  record(1n, 10);
  record(2n, 10);
  await pass(7_000);
  record(1n, 20);
  isAway = false;
  await pass(2_000);
  expect(written.map((batch) => new Map(batch))).toEqual([
    new Map([
      [1n, 20],
      [2n, 10],
    ]),
  ]);
});

it('writes the rest when it is closed, and gives up if that fails', async () => {
  record(1n, 10);
  await uses.close();
  expect(written).toEqual([[[1n, 10]]]);
  isAway = true;
  record(1n, 20);
  await uses.close();
  expect(jest.getTimerCount()).toBe(0);
});

it('holds at most 10,000 keys, and records others at their next use', async () => {
  isAway = true;
  for (let id = 0n; id < 10_001n; id += 1n) record(id, 10);
  isAway = false;
  await pass(2_000);
  record(10_000n, 10);
  await pass(2_000);
  expect(written.map(({ length }) => length)).toEqual([10_000, 1]);
});
