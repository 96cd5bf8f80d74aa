import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type AccountKey, type ApiKeyId, DomainError, instant, type NewApiKey } from '@adoption-store/domain';
import { InMemoryAccountRepository, InMemoryApiKeyRepository } from '@adoption-store/domain/testing';
import { type BatchedApiKeyRepository, CachingApiKeyRepository } from './caching-api-key-repository.js';
import type { StoredKey } from './known-key.js';

/** Keys in memory behind a database that takes its time, can be away, and counts what it is asked. */
class SlowKeys extends InMemoryApiKeyRepository implements BatchedApiKeyRepository {
  isAway = false;
  takes = 5;
  queries: number[] = [];
  /** How many keys each answer told of. */
  answered: number[] = [];
  inFlight = 0;
  mostInFlight = 0;

  async findByHashes(
    known: ReadonlyMap<string, string | undefined>,
  ): Promise<ReadonlyMap<string, StoredKey | undefined>> {
    const { takes } = this;
    this.queries.push(known.size);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    // What the database saw when it was asked is answered, however late.
    const answer = new Map<string, StoredKey | undefined>();
    for (const [hash, version] of known) {
      const found = await this.findByHash(hash);
      const stored = found && { found, version: inspect(found) };
      if (stored?.version !== version || stored === undefined) answer.set(hash, stored);
    }
    await new Promise((resolve) => setTimeout(resolve, takes));
    this.inFlight -= 1;
    if (this.isAway) throw new DomainError('service_unavailable', 'away');
    this.answered.push(answer.size);
    return answer;
  }
}

const NOW = instant(Date.UTC(2026, 0, 1));
let accounts: InMemoryAccountRepository;
let inner: SlowKeys;
let cache: CachingApiKeyRepository;
let follow: jest.Mock<() => void>;
let made = 0;

beforeEach(() => {
  jest.useFakeTimers();
  accounts = new InMemoryAccountRepository();
  inner = new SlowKeys(accounts);
  follow = jest.fn<() => void>();
  cache = new CachingApiKeyRepository(inner, follow);
});
afterEach(() => {
  cache.close();
  jest.useRealTimers();
});

async function draft(): Promise<NewApiKey> {
  const account = await accounts.open({ email: 'dev@example.com', plan: { name: 'free' }, createdAt: NOW });
  made += 1;
  return { ...unnamed, accountId: account.id, hash: hashOf(made) };
}

const unnamed = { ending: 'wxyz', name: undefined, createdAt: NOW, expiresAt: undefined };
const hashOf = (number: number) => number.toString(16).padStart(64, '0');
const unknownHashes = (count: number) => Array.from({ length: count }, (_, index) => `f${hashOf(index).slice(1)}`);
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

const ask = async (hash: string) => cache.findByHash(hash);

/** The answer, once the time that the database takes has been let pass. */
async function find(hash: string): Promise<AccountKey | undefined> {
  const [settled] = await Promise.all([Promise.allSettled([ask(hash)]), pass(inner.takes)]);
  if (settled[0].status === 'rejected') throw settled[0].reason as unknown;
  return settled[0].value;
}

/** Whether the answer is there without anything having happened meanwhile. */
async function answersAtOnce(hash: string): Promise<boolean> {
  const waits = Symbol('waits');
  const answer = ask(hash).catch(() => waits);
  return (await Promise.race([answer, Promise.resolve().then(() => Promise.resolve(waits))])) !== waits;
}

describe('a key in use', () => {
  it('asks the database nothing for 1,000 requests', async () => {
    const key = await inner.add(await draft());
    await find(key.hash);
    for (let request = 0; request < 1_000; request += 1) expect((await ask(key.hash))?.key).toEqual(key);
    expect(inner.queries).toEqual([1]);
  });

  it('never waits, however long it is used, and costs few small queries a second', async () => {
    const key = await inner.add(await draft());
    await find(key.hash);
    for (let tenth = 0; tenth < 600; tenth += 1) {
      await pass(100);
      expect(await answersAtOnce(key.hash)).toBe(true);
    }
    expect(inner.queries.length).toBeLessThanOrEqual(1 + 60 * 2.5);
    expect(new Set(inner.queries)).toEqual(new Set([1]));
  });

  it('is confirmed together with all others, in bounded queries, one at a time', async () => {
    const keys = await Promise.all(Array.from({ length: 1_200 }, async () => inner.add(await draft())));
    await Promise.all([...keys.map(({ hash }) => ask(hash)), pass(50)]);
    inner.queries = [];
    inner.mostInFlight = 0;
    await pass(425);
    expect(inner.queries).toEqual([500, 500, 200]);
    expect(inner.mostInFlight).toBe(1);
  });

  it('is not read again while it is as it was', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    await pass(2_000);
    expect(new Set(inner.answered.splice(0).slice(1))).toEqual(new Set([0]));
    await inner.revoke(id, NOW);
    await pass(410);
    expect(inner.answered).toContain(1);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('is no longer asked about once it is out of use', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    await pass(6_000);
    inner.queries = [];
    await pass(60_000);
    expect(inner.queries).toEqual([]);
  });

  it('is followed from its first use on, and not before', async () => {
    await find(hashOf(0xffff));
    expect(follow).not.toHaveBeenCalled();
    await find((await inner.add(await draft())).hash);
    expect(follow).toHaveBeenCalled();
  });
});

describe('a change that nobody tells of', () => {
  it('acts within a second', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('acts within a second also where the answer from before it comes late', async () => {
    inner.takes = 900;
    const { id, hash } = await inner.add(await draft());
    const early = ask(hash);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await early).toMatchObject({ key: { revokedAt: undefined } });
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('acts within a second also where a confirmation from before it comes late', async () => {
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    inner.takes = 700;
    await pass(405);
    expect(inner.inFlight).toBe(1);
    await inner.revoke(id, NOW);
    await pass(1_000);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('lets a new key in within a second of a look-up that missed it', async () => {
    const newKey = await draft();
    expect(await find(newKey.hash)).toBeUndefined();
    await inner.add(newKey);
    await pass(1_000);
    expect(await find(newKey.hash)).toBeDefined();
  });
});

describe('a change that is told', () => {
  it('acts at once: on a key, on all keys of an account, on new keys', async () => {
    const { id, hash, accountId } = await inner.add(await draft());
    await find(hash);
    await inner.revoke(id, NOW);
    cache.forget({ key: id });
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });

    await accounts.changePlan('dev@example.com', { name: 'pro' });
    cache.forget({ account: accountId });
    expect(await find(hash)).toMatchObject({ account: { plan: { name: 'pro' } } });

    const newKey = await draft();
    expect(await find(newKey.hash)).toBeUndefined();
    const added = await inner.add(newKey);
    cache.forget({ key: added.id });
    expect(await find(newKey.hash)).toMatchObject({ key: added });
  });

  it('leaves what it does not concern', async () => {
    const { hash } = await inner.add(await draft());
    await find(hash);
    cache.forget({ key: 999n as ApiKeyId });
    expect(await answersAtOnce(hash)).toBe(true);
    cache.forget({ anything: true });
    expect(await answersAtOnce(hash)).toBe(false);
    await pass(inner.takes);
  });

  it('is not undone by a look-up that was under way', async () => {
    inner.takes = 100;
    const { id, hash } = await inner.add(await draft());
    const early = ask(hash);
    await pass(50);
    await cache.revoke(id, NOW);
    await pass(50);
    const found = await early;
    if (found === undefined) throw new Error('the key is not there');
    expect(found.key.revokedAt).toBeUndefined();
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('is not undone by a confirmation that was under way', async () => {
    inner.takes = 100;
    const { id, hash } = await inner.add(await draft());
    await find(hash);
    await pass(450);
    expect(inner.inFlight).toBe(1);
    await cache.revoke(id, NOW);
    await pass(100);
    expect(await find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });
});

it('an answer is not undone by one to an earlier question that comes later', async () => {
  const { id, hash } = await inner.add(await draft());
  await find(hash);
  inner.isAway = true;
  await pass(1_100);
  inner.isAway = false;
  inner.takes = 400;
  const early = ask(hash);
  inner.takes = 5;
  await inner.revoke(id, NOW);
  await pass(300);
  expect(await ask(hash)).toMatchObject({ key: { revokedAt: NOW } });
  await pass(100);
  expect(await early).toMatchObject({ key: { revokedAt: undefined } });
  expect(await ask(hash)).toMatchObject({ key: { revokedAt: NOW } });
});

describe('unknown keys', () => {
  it('put one bounded look-up at a time on the database, however many they are', async () => {
    inner.mostInFlight = 0;
    const found = Promise.all(unknownHashes(10_000).map((hash) => ask(hash)));
    await pass(1_000);
    expect(new Set(await found)).toEqual(new Set([undefined]));
    expect(inner.mostInFlight).toBe(1);
    expect(Math.max(...inner.queries)).toBe(500);
    expect(inner.queries).toHaveLength(21);
  });

  it('are looked up once for all who ask at a time, and once a second for who goes on asking', async () => {
    const [hash = ''] = unknownHashes(1);
    await Promise.all([pass(20), ...Array.from({ length: 100 }, () => ask(hash))]);
    expect(inner.queries.length).toBeLessThanOrEqual(2);
    inner.queries = [];
    for (let tenth = 0; tenth < 30; tenth += 1) await Promise.all([find(hash), pass(95)]);
    expect(inner.queries.length).toBeLessThanOrEqual(3);
  });

  it('don’t hold up a key that has been seen', async () => {
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
});

describe('while the database is away', () => {
  it('a key goes on for less than a second, is then refused as unavailable, and comes back by itself', async () => {
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

  it('refuses all who wait at the first failure, instead of one after the other', async () => {
    inner.isAway = true;
    inner.takes = 2_000;
    const refused = Promise.allSettled(unknownHashes(2_000).map((hash) => ask(hash)));
    await pass(2_000);
    expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(inner.queries).toEqual([1]);
  });

  it('leaves nobody without an answer who asked for a key once more while it was looked up', async () => {
    inner.isAway = true;
    const first = ask(hashOf(1));
    await pass(1);
    const refused = Promise.allSettled([first, ask(hashOf(1))]);
    await pass(inner.takes);
    expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

it('holds no more than its share of memory: the key unused for longest goes first', async () => {
  const { hash: first } = await inner.add(await draft());
  const pattern = await find(first);
  if (pattern === undefined) throw new Error('the key is not there');
  inner.findByHashes = async (known) => {
    inner.queries.push(known.size);
    return new Map(
      Array.from(known.keys(), (hash) => [
        hash,
        { found: { ...pattern, key: { ...pattern.key, hash } }, version: 'one' },
      ]),
    );
  };
  const others = unknownHashes(10_000);
  await Promise.all(others.slice(0, 5_000).map((hash) => ask(hash)));
  await pass(10);
  // As long known as the others of its half, and used after them.
  await ask(others[0] ?? '');
  await Promise.all(others.slice(5_000).map((hash) => ask(hash)));
  inner.queries = [];
  // 500 have been let go to make room for the last one.
  const [used, rest] = [
    [others[0] ?? '', ...others.slice(500)],
    [first, ...others.slice(1, 500)],
  ];
  await Promise.all(used.map((hash) => ask(hash)));
  expect(inner.queries).toEqual([]);
  await Promise.all(rest.map((hash) => ask(hash)));
  expect(inner.queries).toEqual([1, 499]);
});
