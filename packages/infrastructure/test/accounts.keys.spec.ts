import {
  type Account,
  type AccountId,
  type AccountKey,
  type ApiKeyId,
  type Application,
  createApplication,
  HOUR,
  type Instant,
  instant,
  PLANS,
} from '@adoption-store/domain';
import { apiKeyRepositorySuite, testPolicy } from '@adoption-store/domain/testing';
import {
  ask,
  createDatabase,
  DatabaseGate,
  expectDatabaseErrors,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { KeyCache } from '../src/accounts/key-cache.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { closedAfterEach, openPostgres } from './databases.js';
import { framework } from './framework.js';

// A key that exists already.
expectDatabaseErrors('23505');

apiKeyRepositorySuite(framework, 'PostgreSQL', openPostgres);

describe('the cache of keys', () => {
  const NOW = instant(Date.UTC(2026, 0, 1));
  const hashOf = (number: number) => number.toString(16).padStart(64, '0');
  const hashes = (count: number) => Array.from({ length: count }, (_, index) => hashOf(index));
  const account: Account = {
    id: 1n as AccountId,
    email: 'dev@example.com',
    plan: PLANS.free,
    scopes: undefined,
    credentialVersion: 0,
    createdAt: NOW,
    provenAt: undefined,
  };

  let time: number;
  /** Milliseconds that each read takes. */
  let takes: number;
  /** The number of hashes of each query. */
  let queries: number[];
  let stored: Map<string, AccountKey>;
  let cache: KeyCache;

  beforeEach(() => {
    // No time passes for the time limit of the database, however slow the machine is.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    [time, takes, queries, stored] = [5_000, 0, [], new Map<string, AccountKey>()];
    cache = new KeyCache(findAll, { now: () => time });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function findAll(asked: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
    queries.push(asked.length);
    // The answer is the state at the arrival of the query, however late it is returned.
    const found = asked.map((hash) => stored.get(hash));
    await new Promise(setImmediate);
    time += takes;
    return found;
  }

  function add(hash: string, revokedAt?: Instant): void {
    const key: AccountKey['key'] = {
      accountId: account.id,
      id: BigInt(`0x${hash}`) as ApiKeyId,
      hash,
      ending: 'wxyz',
      name: undefined,
      scopes: undefined,
      createdAt: NOW,
      expiresAt: undefined,
      revokedAt,
      disabledAt: undefined,
      replacedBy: undefined,
      lastUsedAt: undefined,
    };
    stored.set(hash, { account, key });
  }

  /** How many queries the look-up needs. */
  async function queriesOf(hash: string): Promise<number> {
    const before = queries.length;
    await cache.find(hash);
    return queries.length - before;
  }

  it('has no entry that is older than a second, however much it is used', async () => {
    const hash = hashOf(1);
    add(hash);
    await cache.find(hash);
    add(hash, NOW);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      time += 100;
      expect(await queriesOf(hash)).toBe(0);
    }
    time += 0.1;
    expect(await cache.find(hash)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('takes an entry to be as old as the start of its read', async () => {
    const hash = hashOf(1);
    add(hash);
    takes = 900;
    await cache.find(hash);
    time += 99;
    expect(await queriesOf(hash)).toBe(0);
    time += 2;
    expect(await queriesOf(hash)).toBe(1);
  });

  it('neither keeps nor answers what a read of a second has found', async () => {
    const hash = hashOf(1);
    add(hash);
    takes = 1_000;
    for (const asked of [hash, hash, hashOf(2)])
      await expect(cache.find(asked)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(queries).toHaveLength(3);
    takes = 0;
    expect(await cache.find(hash)).toBeDefined();
  });

  it('keeps 10,000 entries', async () => {
    const [first = '', ...others] = hashes(10_001);
    for (const hash of [first, ...others]) {
      add(hash);
      await cache.find(hash);
    }
    expect(await queriesOf(others.at(-1) ?? '')).toBe(0);
    expect(await queriesOf(first)).toBe(1);
  });

  it('asks for the keys of look-ups that arrive together at once, of at most 1,000', async () => {
    const all = hashes(2_500);
    for (const hash of all.slice(0, 1_250)) add(hash);
    const asked = all.flatMap((hash) => [hash, hash]);
    const found = await Promise.all(asked.map(async (hash) => cache.find(hash)));
    expect(found.map((each) => each?.key.hash)).toEqual(
      asked.map((hash) => (Number(`0x${hash}`) < 1_250 ? hash : undefined)),
    );
    // The first arrived alone.
    expect(queries).toEqual([1, 1_000, 1_000, 499]);
  });

  it('does not keep that a key is unknown: a new key works at once', async () => {
    for (let again = 0; again < 2; again += 1) expect(await queriesOf(hashOf(1))).toBe(1);
    add(hashOf(1));
    expect(await cache.find(hashOf(1))).toBeDefined();
  });
});

describe('keys on several instances', () => {
  let database: TestDatabase;
  const closers = closedAfterEach();
  beforeEach(async () => {
    database = await createDatabase();
    closers.push(() => database.drop());
  });

  /** @param skew milliseconds by which the instance's clock is ahead. */
  async function openInstance(databaseUrl = database.url, skew = 0): Promise<Application> {
    const { ports, close } = await openInfrastructure({ policy: testPolicy(), databaseUrl, poolSize: 10 });
    closers.push(close);
    return createApplication({ ...ports, clock: { now: () => instant(Date.now() + skew) } }, testPolicy());
  }

  async function issue({ openAccount, issueKey }: Application) {
    const { id: accountId } = await openAccount.execute({ email: 'dev@example.com' });
    return issueKey.execute({ accountId });
  }

  /** The plan, or the code of the error. */
  const outcomeOf = async ({ authenticate }: Application, text: string): Promise<string> => {
    try {
      return (await authenticate.execute(text)).account.plan.name;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  const becomes = (outcome: string, instance: Application, text: string) =>
    until(async () => (await outcomeOf(instance, text)) === outcome);

  it('are refused by one whose clock is an hour behind, too, once they were rotated without an overlap', async () => {
    const [one, other] = await Promise.all([openInstance(), openInstance(database.url, -HOUR)]);
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    const { text: next } = await one.rotateKey.execute({ id: key.id, overlap: 0 });
    expect(await outcomeOf(other, next)).toBe('free');
    await becomes('expired_api_key', other, text);
  });

  it('are refused as unavailable during a cut, and one revoked meanwhile is refused from the first answer on', async () => {
    const gate = await DatabaseGate.open(database.url);
    closers.push(() => {
      gate.shut();
    });
    const instance = await openInstance(gate.url);
    const { key, text } = await issue(instance);
    expect(await outcomeOf(instance, text)).toBe('free');
    gate.shut();
    await becomes('service_unavailable', instance, text);
    await ask(database.url, `UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`);
    await gate.reopen();
    const outcomes = new Set<string>();
    await until(async () => outcomes.add(await outcomeOf(instance, text)).has('revoked_api_key'));
    expect(outcomes).not.toContain('free');
  });
});
