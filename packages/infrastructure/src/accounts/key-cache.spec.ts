import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type AccountId,
  type AccountKey,
  type ApiKeyId,
  DomainError,
  type Instant,
  instant,
} from '@adoption-store/domain';
import { KeyCache } from './key-cache.js';

const NOW = instant(Date.UTC(2026, 0, 1));
const hashOf = (number: number) => number.toString(16).padStart(64, '0');
const hashes = (count: number) => Array.from({ length: count }, (_, index) => hashOf(index));

let time: number;
/** Milliseconds that each read takes. */
let takes: number;
let isAway: boolean;
/** The number of hashes of each query. */
let queries: number[];
let stored: Map<string, AccountKey>;
let cache: KeyCache;

beforeEach(() => {
  [time, takes, isAway, queries, stored] = [5_000, 0, false, [], new Map<string, AccountKey>()];
  cache = new KeyCache(findAll, { now: () => time });
});

async function findAll(asked: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
  queries.push(asked.length);
  // The answer is the state when the query arrived, however late it is returned.
  const found = asked.map((hash) => stored.get(hash));
  await new Promise(setImmediate);
  time += takes;
  if (isAway) throw new DomainError('service_unavailable', 'away');
  return found;
}

const account: Account = {
  ...{ id: 1n as AccountId, email: 'dev@example.com', plan: { name: 'free' }, scopes: undefined },
  ...{ credentialVersion: 0, createdAt: NOW, provenAt: undefined },
};

function add(hash: string, revokedAt?: Instant): AccountKey {
  const key: AccountKey['key'] = {
    ...{ accountId: account.id, id: BigInt(`0x${hash}`) as ApiKeyId, hash, ending: 'wxyz', name: undefined },
    ...{ scopes: undefined, createdAt: NOW, expiresAt: undefined, revokedAt, disabledAt: undefined },
    ...{ replacedBy: undefined, lastUsedAt: undefined },
  };
  stored.set(hash, { account, key });
  return { account, key };
}

/** How many queries the look-up needs. */
async function queriesOf(hash: string): Promise<number> {
  const before = queries.length;
  await cache.find(hash);
  return queries.length - before;
}

describe('an entry', () => {
  it('needs no query for 1,000 requests', async () => {
    const added = add(hashOf(1));
    for (let request = 0; request < 1_000; request += 1) expect(await cache.find(hashOf(1))).toEqual(added);
    expect(queries).toEqual([1]);
  });

  it('is at most a second old, however much it is used', async () => {
    const { hash } = add(hashOf(1)).key;
    await cache.find(hash);
    add(hash, NOW);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      time += 100;
      expect(await queriesOf(hash)).toBe(0);
    }
    time += 0.1;
    expect(await cache.find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('is as old as the start of its read', async () => {
    const { hash } = add(hashOf(1)).key;
    takes = 900;
    await cache.find(hash);
    time += 99;
    expect(await queriesOf(hash)).toBe(0);
    time += 2;
    expect(await queriesOf(hash)).toBe(1);
  });

  it('is neither made nor answered by a read that took a second, for known and unknown keys', async () => {
    const { hash } = add(hashOf(1)).key;
    takes = 1_000;
    for (const asked of [hash, hash, hashOf(2)]) {
      await expect(cache.find(asked)).rejects.toMatchObject({ code: 'service_unavailable' });
    }
    expect(queries).toHaveLength(3);
    takes = 0;
    expect(await cache.find(hash)).toBeDefined();
  });

  it('is used while the database is away, for its second, and no longer', async () => {
    const { hash } = add(hashOf(1)).key;
    await cache.find(hash);
    isAway = true;
    time += 1_000;
    expect(await cache.find(hash)).toBeDefined();
    time += 1;
    for (let again = 0; again < 2; again += 1) {
      await expect(cache.find(hash)).rejects.toMatchObject({ code: 'service_unavailable' });
    }
    isAway = false;
    expect(await cache.find(hash)).toBeDefined();
  });

  it('goes with its key', async () => {
    const { hash } = add(hashOf(1)).key;
    await cache.find(hash);
    stored.clear();
    time += 1_001;
    expect(await cache.find(hash)).toBeUndefined();
    expect(await queriesOf(hash)).toBe(1);
  });

  it('is one of 10,000, and the least recently used goes first', async () => {
    const all = hashes(10_001);
    for (const hash of all) add(hash);
    const [first = '', second = '', ...others] = all;
    for (const hash of [first, second]) await cache.find(hash);
    await cache.find(first);
    await Promise.all(others.map((hash) => cache.find(hash)));
    expect(await queriesOf(first)).toBe(0);
    expect(await queriesOf(second)).toBe(1);
  });
});

describe('look-ups', () => {
  it('that arrive together share a query, one at a time, of at most 1,000 hashes', async () => {
    const all = hashes(2_500);
    for (const hash of all.slice(0, 1_250)) add(hash);
    const asked = all.flatMap((hash) => [hash, hash]);
    const found = await Promise.all(asked.map((hash) => cache.find(hash)));
    expect(found.map((each) => each?.key.hash)).toEqual(
      asked.map((hash) => (Number(`0x${hash}`) < 1_250 ? hash : undefined)),
    );
    // The first arrived alone.
    expect(queries).toEqual([1, 1_000, 1_000, 499]);
  });

  it('are all answered, however many they are', async () => {
    for (const hash of hashes(6_000)) add(hash);
    const found = await Promise.all(hashes(12_000).map((hash) => cache.find(hash)));
    expect(found.filter((each) => each !== undefined)).toHaveLength(6_000);
  });

  it('of an unknown key are not kept: a new key works at once', async () => {
    for (let again = 0; again < 2; again += 1) {
      expect(await queriesOf(hashOf(1))).toBe(1);
    }
    add(hashOf(1));
    expect(await cache.find(hashOf(1))).toBeDefined();
  });

  it('all fail together while the database is away', async () => {
    isAway = true;
    const refused = await Promise.allSettled([...hashes(2_000), hashOf(1)].map((hash) => cache.find(hash)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(queries.length).toBeLessThanOrEqual(3);
  });
});
