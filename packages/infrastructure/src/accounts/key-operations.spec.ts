import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type ApiKeyId, instant, MINUTE } from '@adoption-store/domain';
import { KeyOperations, type RecordedOperation } from './key-operations.js';

let written: (readonly RecordedOperation[])[];
let isAway: boolean;
let operations: KeyOperations;

beforeEach(() => {
  jest.useFakeTimers();
  [written, isAway] = [[], false];
  operations = new KeyOperations(
    async (uses) => {
      if (isAway) throw new Error('away');
      written.push(uses);
    },
    () => undefined,
  );
});
afterEach(() => {
  jest.useRealTimers();
});

const use = (id: bigint, operation: string, minute: number): RecordedOperation => ({
  id: id as ApiKeyId,
  operation,
  minute: instant(minute * MINUTE),
});
const record = (id: bigint, operation: string, minute: number) => {
  const { id: key, minute: at } = use(id, operation, minute);
  operations.record(key, operation, at);
};
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

it('writes each operation of a key once a minute, together, and nothing without uses', async () => {
  for (let request = 0; request < 1_000; request += 1) record(BigInt(request % 2), request < 998 ? 'list' : 'add', 1);
  await pass(2_000);
  const [first = []] = written;
  expect(written).toHaveLength(1);
  expect(first).toHaveLength(4);
  for (const [id, operation] of [
    [0n, 'list'],
    [1n, 'list'],
    [0n, 'add'],
    [1n, 'add'],
  ] as const)
    expect(first).toContainEqual(use(id, operation, 1));
  record(1n, 'list', 1);
  await pass(60_000);
  expect(written).toHaveLength(1);
  record(1n, 'list', 2);
  await pass(2_000);
  expect(written[1]).toEqual([use(1n, 'list', 2)]);
});

it('keeps uses that could not be written, and adds later ones', async () => {
  isAway = true;
  record(1n, 'list', 1);
  record(2n, 'list', 1);
  await pass(7_000);
  record(1n, 'list', 2);
  isAway = false;
  await pass(2_000);
  expect(written).toHaveLength(1);
  expect([...(written[0] ?? [])].sort((one, other) => Number(one.id - other.id))).toEqual([
    use(1n, 'list', 2),
    use(2n, 'list', 1),
  ]);
});

it('writes the rest when it is closed, and gives up if that fails', async () => {
  record(1n, 'list', 1);
  await operations.close();
  expect(written).toEqual([[use(1n, 'list', 1)]]);
  isAway = true;
  record(1n, 'list', 2);
  await operations.close();
  expect(jest.getTimerCount()).toBe(0);
});

it('holds at most 50,000 uses, and records others in a later minute', async () => {
  isAway = true;
  for (let id = 0n; id < 50_001n; id += 1n) record(id, 'list', 1);
  isAway = false;
  await pass(2_000);
  record(50_000n, 'list', 2);
  await pass(2_000);
  expect(written.map(({ length }) => length)).toEqual([50_000, 1]);
});
