import { beforeEach, afterEach, describe, expect, it, jest } from '@jest/globals';
import { type AccountKey, DomainError, instant, type NewApiKey } from '@adoption-store/domain';
import { InMemoryAccountRepository, InMemoryApiKeyRepository } from '@adoption-store/domain/testing';
import { KeyCache } from './key-cache.js';

/** Keys in memory, behind a database that is slow, can be down, and counts its queries. */
class SlowKeys extends InMemoryApiKeyRepository {
  isAway = false;
  takes = 5;
  queries: number[] = [];
  inFlight = 0;
  mostInFlight = 0;

  async findAll(hashes: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
    const { takes } = this;
    this.queries.push(hashes.length);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    // The answer is the state when the query arrived, however late it is returned.
    const answer = await Promise.all(hashes.map((hash) => this.findByHash(hash)));
    await new Promise((resolve) => setTimeout(resolve, takes));
    this.inFlight -= 1;
    if (this.isAway) throw new DomainError('service_unavailable', 'away');
    return answer;
  }
}

const NOW = instant(Date.UTC(2026, 0, 1));
let accounts: InMemoryAccountRepository;
let inner: SlowKeys;
let cache: KeyCache;
let onEntry: jest.Mock<() => void>;
let made = 0;

beforeEach(() => {
  jest.useFakeTimers();
  accounts = new InMemoryAccountRepository();
  inner = new SlowKeys(accounts);
  onEntry = jest.fn<() => void>();
  cache = new KeyCache((hashes) => inner.findAll(hashes), onEntry);
});
afterEach(() => {
  jest.useRealTimers();
});

async function draft(): Promise<NewApiKey> {
  const account = await accounts.open({
    email: 'dev@example.com',
    plan: { name: 'free' },
    scopes: undefined,
    createdAt: NOW,
  });
  made += 1;
  return { ...unnamed, accountId: account.id, hash: hashOf(made) };
}

const unnamed = { ending: 'wxyz', name: undefined, createdAt: NOW, scopes: undefined, expiresAt: undefined };
const hashOf = (number: number) => number.toString(16).padStart(64, '0');
const unknownHashes = (count: number) => Array.from({ length: count }, (_, index) => `f${hashOf(index).slice(1)}`);
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

const ask = (hash: string) => cache.find(hash);

/** The answer, after the time that the database takes has passed. */
async function find(hash: string): Promise<AccountKey | undefined> {
  const [settled] = await Promise.all([Promise.allSettled([ask(hash)]), pass(inner.takes)]);
  if (settled[0].status === 'rejected') throw settled[0].reason as unknown;
  return settled[0].value;
}

/** Whether the answer is available immediately. */
async function answersAtOnce(hash: string): Promise<boolean> {
  const waits = Symbol('waits');
  const answer = ask(hash).catch(() => waits);
  return (await Promise.race([answer, Promise.resolve().then(() => Promise.resolve(waits))])) !== waits;
}

describe('a key in use', () => {
  it('needs no query for 1,000 requests', async () => {
    const key = await inner.add(await draft());
    await find(key.hash);
    for (let request = 0; request < 1_000; request += 1) expect((await ask(key.hash))?.key).toEqual(key);
    expect(inner.queries).toEqual([1]);
  });

  it('never waits, however long it is used, and needs only a few small queries a second', async () => {
    const key = await inner.add(await draft());
    await find(key.hash);
    for (let tenth = 0; tenth < 600; tenth += 1) {
      await pass(100);
      expect(await answersAtOnce(key.hash)).toBe(true);
    }
    expect(inner.queries.length).toBeLessThanOrEqual(1 + 60 * 2);
    expect(new Set(inner.queries)).toEqual(new Set([1]));
  });

  it('is refreshed together with all others, in bounded queries, one at a time', async () => {
    const keys = await Promise.all(Array.from({ length: 1_200 }, async () => inner.add(await draft())));
    await Promise.all([...keys.map(({ hash }) => ask(hash)), pass(50)]);
    await pass(600);
    inner.queries = [];
    inner.mostInFlight = 0;
    for (const { hash } of keys) expect((await ask(hash))?.key.hash).toBe(hash);
    await pass(50);
    expect(inner.queries.reduce((sum, size) => sum + size)).toBe(1_200);
    expect(Math.max(...inner.queries)).toBeLessThanOrEqual(1_000);
    expect(inner.mostInFlight).toBe(1);
  });

  it('is not refreshed once it is out of use', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    inner.queries = [];
    await pass(60_000);
    expect(inner.queries).toEqual([]);
  });

  it('subscribes to changes; an unknown key does not', async () => {
    await find(hashOf(0xffff));
    expect(onEntry).not.toHaveBeenCalled();
    await find((await inner.add(await draft())).hash);
    expect(onEntry).toHaveBeenCalled();
  });
});

describe('a change without a notification', () => {
  it('takes effect within a second', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('takes effect within a second while requests continue', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    await inner.revoke(id, NOW);
    for (let tenth = 0; tenth < 9; tenth += 1) await Promise.all([ask(hash), pass(100)]);
    await pass(100);
    expect(await ask(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('takes effect within a second even if an earlier answer arrives late', async () => {
    inner.takes = 900;
    const { id, hash } = await inner.add(await draft());
    const early = ask(hash);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await early).toMatchObject({ key: { revokedAt: undefined } });
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('takes effect within a second even if an earlier refresh arrives late', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    inner.takes = 700;
    await pass(500);
    await ask(hash);
    expect(inner.inFlight).toBe(1);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('makes a new key valid at the first look-up after one that missed it', async () => {
    const newKey = await draft();
    expect(await find(newKey.hash)).toBeUndefined();
    await inner.add(newKey);
    expect(await find(newKey.hash)).toBeDefined();
  });
});

describe('a change with a notification', () => {
  it('takes effect at once on its entries, and leaves the others', async () => {
    const [one, other] = [await inner.add(await draft()), await inner.add(await draft())];
    await Promise.all([find(one.hash), find(other.hash)]);
    await inner.revoke(one.id, NOW);
    cache.forget(`key ${one.id}`);
    expect(await answersAtOnce(other.hash)).toBe(true);
    expect(await find(one.hash)).toMatchObject({ key: { revokedAt: NOW } });
    cache.forget();
    expect(await answersAtOnce(other.hash)).toBe(false);
    await pass(inner.takes);
  });

  it.each([
    ['a look-up', 0, 0],
    ['a look-up', 0, 60],
    ['a refresh', 600, 0],
    ['a refresh', 600, 60],
  ])('is not undone by %s in progress, aged %d ms, with a request %d ms later', async (_what, age, later) => {
    const { id, hash } = await inner.add(await draft());
    if (age > 0) await Promise.all([find(hash), pass(age)]);
    inner.takes = 100;
    const early = ask(hash);
    await pass(50);
    expect(inner.inFlight).toBe(1);
    await inner.revoke(id, NOW);
    cache.forget(`key ${id}`);
    await pass(later);
    const late = ask(hash);
    await pass(200);
    // During a refresh the earlier request has already been answered.
    expect(await early).toMatchObject({ key: { revokedAt: age === 0 ? NOW : undefined } });
    expect(await late).toMatchObject({ key: { revokedAt: NOW } });
    expect(await ask(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });
});

describe('unknown keys', () => {
  it('cause one bounded look-up at a time, however many they are', async () => {
    const found = Promise.all(unknownHashes(10_000).map((hash) => ask(hash)));
    await pass(1_000);
    expect(new Set(await found)).toEqual(new Set([undefined]));
    expect(inner.mostInFlight).toBe(1);
    expect(Math.max(...inner.queries)).toBe(1_000);
    expect(inner.queries).toHaveLength(11);
  });

  it('are looked up once for concurrent requests', async () => {
    const [hash = ''] = unknownHashes(1);
    await Promise.all([pass(20), ...Array.from({ length: 100 }, () => ask(hash))]);
    expect(inner.queries).toEqual([1]);
  });

  it('don’t delay a known key', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    await pass(10_000);
    const flood = Promise.all(unknownHashes(5_000).map((each) => ask(each)));
    let answered = false;
    const known = ask(hash).then(() => (answered = true));
    await pass(2 * inner.takes);
    expect(answered).toBe(true);
    await pass(1_000);
    await Promise.all([flood, known]);
  });

  it('never evict a known key', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    await Promise.all([...unknownHashes(20_000).map((each) => ask(each)), pass(450)]);
    expect(await answersAtOnce(hash)).toBe(true);
  });
});

describe('while the database is down', () => {
  it('a key works for less than a second, is then refused as unavailable, and recovers by itself', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    inner.isAway = true;
    await pass(700);
    expect(await answersAtOnce(hash)).toBe(true);
    await pass(300);
    await expect(find(hash)).rejects.toMatchObject({ code: 'service_unavailable' });
    await pass(60_000);
    await expect(find(hash)).rejects.toMatchObject({ code: 'service_unavailable' });
    inner.isAway = false;
    expect(await find(hash)).toBeDefined();
    expect(await answersAtOnce(hash)).toBe(true);
  });

  it('all waiting callers are refused at their timeout, not one after another', async () => {
    inner.isAway = true;
    inner.takes = 1_500;
    const refused = Promise.allSettled(unknownHashes(2_000).map((hash) => ask(hash)));
    await pass(1_510);
    expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  it('every caller that asks again during a look-up gets an answer', async () => {
    inner.isAway = true;
    const first = ask(hashOf(1));
    await pass(1);
    const refused = Promise.allSettled([first, ask(hashOf(1))]);
    await pass(inner.takes);
    expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

it('holds at most 10,000 keys, and evicts the least recently used first', async () => {
  const pattern = await inner.add(await draft());
  const account = await accounts.open({
    email: 'dev@example.com',
    plan: { name: 'free' },
    scopes: undefined,
    createdAt: NOW,
  });
  inner.findAll = async (hashes) => {
    inner.queries.push(hashes.length);
    return hashes.map((hash) => ({ account, key: { ...pattern, hash } }));
  };
  const [first = '', second = '', ...others] = unknownHashes(10_001);
  const askAll = (hashes: readonly string[]) => Promise.all([...hashes.map((hash) => ask(hash)), pass(10)]);
  await askAll([first, second]);
  await pass(600);
  // Known as long as the second key, but used later.
  await askAll([first]);
  await askAll(others);
  inner.queries = [];
  await askAll([first, ...others]);
  expect(inner.queries).toEqual([]);
  expect(await answersAtOnce(second)).toBe(false);
  await pass(10);
});
