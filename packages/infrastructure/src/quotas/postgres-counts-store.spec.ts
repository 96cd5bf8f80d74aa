import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type AccountId, type ApiKeyId, instant, later, MINUTE, NO_REFUSALS, NO_USAGE } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { PostgresCountsStore } from './postgres-counts-store.js';

/** The counts of accounts and the bans of keys that one statement writes: those that have them, and the values. */
interface Written {
  readonly used: Readonly<Record<string, unknown>>;
  readonly bannedUntil: Readonly<Record<string, unknown>>;
}

const noon = instant(Date.UTC(2026, 0, 1, 12));
const SAVED_AGAIN = 'Request counts are saved again.';
const CANT_BE_SAVED = expect.stringContaining("can't be saved (away)");
let written: Written[];
let events: string[];
let isAway: boolean;
let reads: number;
let store: PostgresCountsStore;

beforeEach(() => {
  jest.useFakeTimers();
  [written, events, isAway, reads] = [[], [], false, 0];
  const master = {
    query: async ({ values: [accounts = [], , used = [], , , keys = [], , until = []] }: { values: unknown[][] }) => {
      if (isAway) throw new Error('away');
      written.push({ used: byId(accounts, used), bannedUntil: byId(keys, until) });
      return { rows: [] };
    },
    /** The day's requests of each account are as many as its id. */
    read: async ({ values: [accounts = []] }: { values: unknown[][] }) => {
      reads += 1;
      return { rows: accounts.map((id) => [null, null, noon, Number(id), null, null]) };
    },
  };
  const dataSource = { manager: {}, driver: { master } } as unknown as DataSource;
  store = new PostgresCountsStore(dataSource, (event) => events.push(event));
});
afterEach(() => {
  jest.useRealTimers();
});

const byId = (ids: readonly unknown[], values: readonly unknown[]) =>
  Object.fromEntries(ids.map((id, index) => [String(id), values[index]]));
const requesterOf = (id: number) => ({ accountId: BigInt(id) as AccountId, keyId: BigInt(id) as ApiKeyId });
const count = (accountId: number, dayUsed: number, bannedUntil?: Date) => {
  const ban = bannedUntil && { bannedAt: noon, bannedUntil: instant(bannedUntil.getTime()) };
  store.store(requesterOf(accountId), { usage: { ...NO_USAGE, dayUsed }, refusals: { ...NO_REFUSALS, ...ban } });
};
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const soon = new Date(later(noon, 5 * MINUTE));
const afterwards = new Date(later(noon, 10 * MINUTE));

it('callers that arrive while counts are read share the next query, and each gets its own counts', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  const counts = await Promise.all(ids.map((id) => store.read(requesterOf(id))));
  expect(counts.map(({ usage }) => usage.dayUsed)).toEqual(ids);
  expect(reads).toBe(2);
});

it('counts and bans are written together, half a second after the first, and each once', async () => {
  count(1, 1);
  await pass(499);
  count(2, 5, soon);
  count(1, 2);
  expect(written).toEqual([]);
  await pass(1);
  expect(written).toEqual([{ used: { 1: 2, 2: 5 }, bannedUntil: { 2: soon } }]);
  await pass(5_000);
  expect(written).toHaveLength(1);
});

it('counts and bans that can’t be written are written once the database is back, unless there are newer ones', async () => {
  isAway = true;
  count(1, 1, soon);
  count(2, 2, soon);
  await pass(500);
  expect(events).toEqual([CANT_BE_SAVED]);
  count(2, 3, afterwards);
  await pass(500);
  expect(events).toEqual([CANT_BE_SAVED]);
  isAway = false;
  await pass(500);
  expect(written).toEqual([{ used: { 1: 1, 2: 3 }, bannedUntil: { 1: soon, 2: afterwards } }]);
  expect(events).toEqual([CANT_BE_SAVED, SAVED_AGAIN]);
  count(1, 2);
  await pass(500);
  expect(events).toHaveLength(2);
});

it('a statement writes at most 2,000 accounts and 2,000 bans', async () => {
  for (let account = 1; account <= 2_001; account++) count(account, 1, soon);
  await pass(500);
  const sizes = written.map(({ used, bannedUntil }) => [Object.keys(used).length, Object.keys(bannedUntil).length]);
  expect(sizes).toEqual([
    [2_000, 2_000],
    [1, 1],
  ]);
});

it('closing writes the rest, and nothing later', async () => {
  count(1, 1);
  await store.close();
  expect(written).toEqual([{ used: { 1: 1 }, bannedUntil: {} }]);
  count(1, 2);
  await pass(5_000);
  expect(written).toHaveLength(1);
});
