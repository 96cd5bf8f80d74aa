import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type AccountId, type ApiKeyId, instant, MOST_REFUSALS } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { PostgresRefusalLog } from './postgres-refusal-log.js';
import { MOST_HELD } from './recent-refusals.js';

const NOON = Date.UTC(2026, 0, 1, 12);
/** Of each statement, the refusals as `account request`. */
let written: string[][];
let isAway: boolean;
/** The numbers of the refusals in all statements, of failed ones too. */
let sentIds: unknown[];
let refusals: PostgresRefusalLog;

beforeEach(() => {
  jest.useFakeTimers();
  [written, isAway, sentIds] = [[], false, []];
  const master = {
    query: async ({ values: [accounts = [], , ids = [], , , , requests = []] }: { values: unknown[][] }) => {
      sentIds.push(...ids);
      if (isAway) throw new Error('away');
      written.push(accounts.map((account, index) => `${String(account)} ${String(requests[index])}`));
      return { rows: [] };
    },
  };
  refusals = new PostgresRefusalLog({ manager: {}, driver: { master } } as unknown as DataSource, () => undefined);
});
afterEach(() => {
  jest.useRealTimers();
});

let recorded = 0;
function record(account: number, request: number | string): void {
  const at = instant(NOON + (recorded += 1));
  const about = { keyId: 1n as ApiKeyId, operation: 'GET /v1/pets', code: 'rate_limited' };
  refusals.record(BigInt(account) as AccountId, { at, ...about, requestId: String(request) });
}
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const requests = (account: number, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${account} ${from + index}`);

it('writes the refusals of all accounts in one statement, at most every second, and nothing without refusals', async () => {
  record(1, 'a');
  record(2, 'b');
  record(1, 'c');
  await pass(999);
  expect(written).toEqual([]);
  await pass(60_000);
  expect(written).toEqual([['1 a', '1 c', '2 b']]);
});

it('of a flood writes the last 100 each second', async () => {
  record(2, 'rare');
  for (let request = 0; request < 10_000; request += 1) record(1, request);
  await pass(1_000);
  expect(written).toEqual([['2 rare', ...requests(1, 10_000 - MOST_REFUSALS, 10_000)]]);
  expect(refusals.dropped).toBe(0);
});

it('keeps the last 100 of each account while the database is away, in their order', async () => {
  isAway = true;
  for (let second = 0; second < 30; second += 1) {
    for (let request = 0; request < 7; request += 1) record(1, second * 7 + request);
    if (second < 3) record(2, second);
    await pass(1_000);
  }
  expect(written).toEqual([]);
  isAway = false;
  await pass(1_000);
  expect(written).toHaveLength(1);
  expect(written[0]?.toSorted()).toEqual([...requests(1, 110, 210), ...requests(2, 0, 3)].toSorted());
  expect(refusals.dropped).toBe(0);
  record(2, 'later');
  await pass(1_000);
  expect(written[1]).toEqual(['2 later']);
});

it('numbers refusals, and repeats a write with the same numbers', async () => {
  isAway = true;
  record(1, 'a');
  await pass(1_000);
  record(2, 'b');
  record(1, 'c');
  await pass(1_000);
  isAway = false;
  await pass(1_000);
  const [first, ...all] = sentIds;
  expect(written).toEqual([['1 a', '1 c', '2 b']]);
  expect(all.slice(-3)).toEqual([first, Number(first) + 2, Number(first) + 1]);
  expect(Number.isSafeInteger(first)).toBe(true);
});

it('holds 20,000 refusals, counts those that it drops, and keeps the latest of an account that it holds', async () => {
  const accounts = MOST_HELD / 50;
  for (let request = 0; request < 50; request += 1) {
    for (let account = 1; account <= accounts; account += 1) record(account, request);
  }
  expect(refusals.dropped).toBe(0);
  record(accounts + 1, 'of an account that has none');
  record(1, 'latest');
  expect(refusals.dropped).toBe(2);
  await pass(1_000);
  const all = written.flat();
  expect(written.map(({ length }) => length)).toEqual([5_000, 5_000, 5_000, 5_000]);
  expect(all.filter((each) => each.startsWith('1 '))).toEqual([...requests(1, 1, 50), '1 latest']);
  expect(all.filter((each) => each.includes('none'))).toEqual([]);
  // There is room again.
  record(accounts + 1, 'next');
  await pass(1_000);
  expect(written.at(-1)).toEqual([`${accounts + 1} next`]);
  expect(refusals.dropped).toBe(2);
});

it('writes the rest when it is closed, and gives up if that fails', async () => {
  record(1, 'last');
  await refusals.close();
  expect(written).toEqual([['1 last']]);
  isAway = true;
  record(1, 'lost');
  await refusals.close();
  expect(jest.getTimerCount()).toBe(0);
});
