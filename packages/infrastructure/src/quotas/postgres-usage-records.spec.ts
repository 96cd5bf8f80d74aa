import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type AccountId, type ApiKeyId, DAY, HOUR, instant } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { PostgresUsageRecords } from './postgres-usage-records.js';

type Row = readonly [keyId: string, hour: string, admitted: number, refused: number];

const NOON = Date.UTC(2026, 0, 1, 12);
let written: Row[][];
let isAway: boolean;
/** How many statements succeed. */
let succeeding: number;
let usage: PostgresUsageRecords;

beforeEach(() => {
  jest.useFakeTimers();
  [written, isAway, succeeding] = [[], false, Infinity];
  const master = {
    query: async ({ values }: { values: unknown[][] }) => {
      succeeding -= 1;
      if (isAway || succeeding < 0) throw new Error('away');
      written.push((values[0] ?? []).map((_, index) => rowFrom(values.map((column) => String(column[index])))));
      return { rows: [] };
    },
  };
  usage = new PostgresUsageRecords({ manager: {}, driver: { master } } as unknown as DataSource, () => undefined);
});
afterEach(() => {
  jest.useRealTimers();
});

const rowFrom = ([keyId = '', hour = '', admitted, refused]: string[]): Row => [
  keyId,
  hour.replace(':00:00.000Z', ''),
  Number(admitted),
  Number(refused),
];
const record = (keyId: number, isAdmitted = true, at = NOON) => {
  usage.record({ accountId: 1n as AccountId, keyId: BigInt(keyId) as ApiKeyId }, isAdmitted, instant(at));
};
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

it('writes the usage of all keys together, at most every second, and nothing without usage', async () => {
  for (let request = 0; request < 1_000; request += 1) record(request % 2, request % 4 !== 0);
  await pass(999);
  expect(written).toEqual([]);
  await pass(60_000);
  expect(written).toEqual([
    [
      ['0', '2026-01-01T12', 250, 250],
      ['1', '2026-01-01T12', 500, 0],
    ],
  ]);
  record(1);
  await pass(1_000);
  expect(written[1]).toEqual([['1', '2026-01-01T12', 1, 0]]);
});

it('counts every request, however many there are', async () => {
  for (let request = 0; request < 30_000; request += 1) record(request % 3, request % 5 !== 0);
  await pass(1_000);
  expect(written).toHaveLength(1);
  expect(written[0]?.toSorted()).toEqual([0, 1, 2].map((keyId) => [String(keyId), '2026-01-01T12', 8_000, 2_000]));
});

it('keeps hours separate, even if a clock goes back', async () => {
  for (const at of [NOON, NOON + HOUR, NOON + HOUR - 1, NOON + DAY]) record(1, true, at);
  await pass(1_000);
  expect(written).toEqual([
    [
      ['1', '2026-01-01T12', 2, 0],
      ['1', '2026-01-01T13', 1, 0],
      ['1', '2026-01-02T12', 1, 0],
    ],
  ]);
});

it('keeps usage that could not be written, and adds later usage', async () => {
  isAway = true;
  record(1);
  record(2, true, NOON - DAY);
  await pass(7_000);
  record(1, false);
  record(2);
  isAway = false;
  await pass(1_000);
  expect(written).toHaveLength(1);
  expect(new Set(written[0])).toEqual(
    new Set([
      ['1', '2026-01-01T12', 1, 1],
      ['2', '2025-12-31T12', 1, 0],
      ['2', '2026-01-01T12', 1, 0],
    ]),
  );
});

it('writes the rest when it is closed, and gives up if that fails', async () => {
  record(1);
  await usage.close();
  expect(written).toEqual([[['1', '2026-01-01T12', 1, 0]]]);
  isAway = true;
  record(1);
  await usage.close();
  expect(jest.getTimerCount()).toBe(0);
});

it('holds at most 50,000 hours of keys, also while the database is away, and writes 2,000 in a statement', async () => {
  isAway = true;
  for (let keyId = 0; keyId < 50_001; keyId += 1) {
    record(keyId % 10_000, true, NOON + Math.floor(keyId / 10_000) * HOUR);
    if (keyId % 20_000 === 0) await pass(1_000);
  }
  isAway = false;
  await pass(1_000);
  record(10_000);
  await pass(1_000);
  expect(written.map(({ length }) => length)).toEqual([...Array<number>(25).fill(2_000), 1]);
});

it('writes each key once, also if only some of the statements succeed', async () => {
  for (let keyId = 0; keyId < 5_000; keyId += 1) record(keyId);
  succeeding = 1;
  await pass(1_000);
  expect(written.map(({ length }) => length)).toEqual([2_000]);
  succeeding = Infinity;
  await pass(1_000);
  expect(written.map(({ length }) => length)).toEqual([2_000, 2_000, 1_000]);
  expect(new Set(written.flat().map(([keyId]) => keyId)).size).toBe(5_000);
});
