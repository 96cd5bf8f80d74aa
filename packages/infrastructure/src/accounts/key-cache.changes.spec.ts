import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { AccountId, AccountKey, ApiKeyId } from '@adoption-store/domain';
import { KeyCache } from './key-cache.js';

/** Milliseconds that a query takes. */
const TAKES = 50;

/** The accounts and keys have the numbers of their hashes. */
const keyOf = (hash: string) =>
  ({ account: { id: BigInt(hash) as AccountId }, key: { id: BigInt(hash) as ApiKeyId, hash } }) as AccountKey;
const others = (count: number) =>
  Array.from({ length: count }, (_, index) => `account ${BigInt(index + 100_000)}` as const);
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

let keys: Map<string, AccountKey>;
let queries: number[];
let cache: KeyCache;

beforeEach(() => {
  jest.useFakeTimers();
  keys = new Map([['1', keyOf('1')]]);
  queries = [];
  const findAll = async (hashes: readonly string[]) => {
    queries.push(hashes.length);
    // The answer is the state when the query arrived.
    const answer = hashes.map((hash) => keys.get(hash));
    await new Promise((resolve) => setTimeout(resolve, TAKES));
    return answer;
  };
  cache = new KeyCache(findAll, () => undefined);
});
afterEach(() => {
  jest.useRealTimers();
});

it('changes of other accounts, one a millisecond, cost a key in use no query', async () => {
  await Promise.all([cache.find('1'), pass(TAKES)]);
  queries = [];
  for (const account of others(3_000)) {
    cache.forget(account);
    void cache.find('1');
    await pass(1);
  }
  expect(queries.length).toBeLessThanOrEqual(3 * 2);
});

it('look-ups of a key share a query while other accounts change', async () => {
  const found: Promise<AccountKey | undefined>[] = [];
  for (const account of others(TAKES - 10)) {
    cache.forget(account);
    found.push(cache.find('1'));
    await pass(1);
  }
  await pass(TAKES);
  expect(new Set(await Promise.all(found))).toEqual(new Set([keys.get('1')]));
  expect(queries).toEqual([1]);
});

it('a request waits for two queries at most, however often its key changes', async () => {
  let answered = 0;
  const change = async (milliseconds: number, ask: () => void) => {
    for (let passed = 0; passed < milliseconds; passed += 1) {
      cache.forget('key 1');
      ask();
      await pass(1);
    }
  };
  await change(10, () => void cache.find('1').then(() => (answered += 1)));
  await change(2 * TAKES, () => undefined);
  expect(answered).toBe(10);
});

it('a look-up finds a key that was added before it, even while an earlier look-up is in progress', async () => {
  const early = cache.find('2');
  await pass(TAKES / 2);
  keys.set('2', keyOf('2'));
  cache.forget('key 2');
  const late = cache.find('2');
  await pass(2 * TAKES);
  expect(await late).toEqual(keyOf('2'));
  expect(await early).toEqual(keyOf('2'));
});

it('100,000 changes take little time with 10,000 known keys', async () => {
  const hashes = Array.from({ length: 10_000 }, (_, index) => String(index));
  keys = new Map(hashes.map((hash) => [hash, keyOf(hash)]));
  await Promise.all([...hashes.map((hash) => cache.find(hash)), pass(100 * TAKES)]);
  const before = process.cpuUsage();
  for (const account of others(100_000)) cache.forget(account);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
});

it('more changes than are remembered still reach a look-up in progress', async () => {
  const early = cache.find('1');
  await pass(TAKES / 2);
  const changed = { ...keyOf('1'), account: { ...keyOf('1').account, email: 'new@example.com' } };
  keys.set('1', changed);
  cache.forget('account 1');
  for (const account of others(25_000)) cache.forget(account);
  await pass(2 * TAKES);
  expect(await early).toEqual(changed);
  await Promise.all([expect(cache.find('1')).resolves.toEqual(changed), pass(TAKES)]);
});
