import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Account,
  type AccountId,
  type AccountKey,
  type ApiKeyId,
  type Application,
  type Clock,
  createApplication,
  DAY,
  describeScopes,
  DomainError,
  generateKeyText,
  HOUR,
  type Instant,
  instant,
  later,
  MINUTE,
  type Password,
  type Ports,
  SECOND,
} from '@adoption-store/domain';
import {
  accountRepositorySuite,
  apiKeyRepositorySuite,
  attemptCounterSuite,
  credentialRepositorySuite,
  passwordHasherSuite,
  sessionRepositorySuite,
} from '@adoption-store/domain/testing';
import { ask, createDatabase, DatabaseGate, type TestDatabase, until } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { Argon2PasswordHasher } from '../src/accounts/argon2-password-hasher.js';
import { KeyCache } from '../src/accounts/key-cache.js';
import { PostgresAttemptCounter } from '../src/accounts/postgres-attempt-counter.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { type Database, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

accountRepositorySuite(framework, 'PostgreSQL', openPostgres);

apiKeyRepositorySuite(framework, 'PostgreSQL', openPostgres);

credentialRepositorySuite(framework, 'PostgreSQL', openPostgres);

sessionRepositorySuite(framework, 'PostgreSQL', openPostgres);

attemptCounterSuite(framework, 'PostgreSQL', openPostgres);

describe('attempts that are counted by processes whose clocks differ', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.close());

  it.each([
    ['ahead', HOUR],
    ['behind', -HOUR],
    ['far ahead', 400 * DAY],
  ])('are not reset by a process whose clock is %s', async (which, ahead) => {
    const counter = new PostgresAttemptCounter(database.dataSource);
    const limit = { subjectHash: createHash('sha256').update(which).digest('hex'), most: 3, within: 15 * MINUTE };
    const allowed = { right: 0, wrong: 0 };
    for (let turn = 0; turn < 20; turn += 1) {
      const now = instant(Date.now());
      if ((await counter.count({ ...limit, now })) === undefined) allowed.right += 1;
      if ((await counter.count({ ...limit, now: later(now, ahead) })) === undefined) allowed.wrong += 1;
    }
    expect(allowed.right).toBeLessThanOrEqual(limit.most);
    // Each attempt by the right clock removes those that lie ahead.
    expect(allowed.wrong).toBeLessThanOrEqual(limit.most * (limit.most + 1));
  });
});

passwordHasherSuite(framework, 'argon2', () =>
  Promise.resolve({ ports: { passwordHasher: new Argon2PasswordHasher() }, close: () => Promise.resolve() }),
);

const PASSWORD = 'a horse, a battery 🐈' as Password;

describe('argon2', () => {
  const hasher = new Argon2PasswordHasher();

  it('hashes as OWASP has it: argon2id, 19 MiB, two passes', async () => {
    expect(await hasher.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
  });

  it.each([
    ['$argon2id$v=19$m=19456,t=1,p=1$c2FsdHNhbHQ$aGFzaA'],
    ['$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA'],
    ['$argon2id$v=19$m=4096,t=2,p=1$c2FsdHNhbHQ$aGFzaA'],
  ])('takes %s for outdated', (hash) => {
    expect(hasher.isOutdated(hash)).toBe(true);
  });

  it('takes as long where there is no hash', async () => {
    const hash = await hasher.hash(PASSWORD);
    const times = { there: Infinity, missing: Infinity };
    const ratio = () => times.missing / times.there;
    // Other work on the machine only adds time, so the shortest of many rounds counts.
    for (let round = 0; round < 80 && (round < 8 || ratio() < 0.5 || ratio() > 2); round += 1) {
      for (const [name, against] of [['there', hash] as const, ['missing', undefined] as const]) {
        const start = performance.now();
        await hasher.verify('another one, quite' as Password, against);
        times[name] = Math.min(times[name], performance.now() - start);
      }
    }
    expect(ratio()).toBeGreaterThan(0.5);
    expect(ratio()).toBeLessThan(2);
  });
});

describe('the cache of keys', () => {
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
});

describe('keys on several instances', () => {
  type Instance = Application & { readonly ports: Ports };

  const EMAIL = 'dev@example.com';
  let database: TestDatabase;
  let closers: (() => Promise<void>)[];

  beforeEach(async () => {
    database = await createDatabase();
    closers = [() => database.drop()];
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
  });

  /** @param skew milliseconds by which the instance's clock is ahead. */
  async function openInstance(databaseUrl = database.url, skew = 0): Promise<Instance> {
    const infrastructure = await openInfrastructure({ databaseUrl, poolSize: 10 });
    closers.push(() => infrastructure.close());
    const clock: Clock = { now: () => instant(Date.now() + skew) };
    const ports = { ...infrastructure.ports, clock };
    return { ...createApplication(ports), ports };
  }

  async function issue({ openAccount, issueKey }: Instance) {
    const account = await openAccount.execute({ email: EMAIL });
    return issueKey.execute({ accountId: account.id });
  }

  const query = <Row extends pg.QueryResultRow>(text: string) => ask<Row>(database.url, text);

  /** The plan, and what the account is held to if it isn't all; or the code of the error. */
  const outcomeOf = ({ authenticate }: Instance, text: string): Promise<string> =>
    authenticate.execute(text).then(
      ({ account: { plan, scopes } }) => (scopes === undefined ? plan.name : `${plan.name}, ${describeScopes(scopes)}`),
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    );

  /** Repeats until the outcome is there. Returns the milliseconds until the last attempt without it. */
  async function lastInVain(instance: Instance, text: string, outcome: string): Promise<number> {
    const start = performance.now();
    for (let inVain = 0; ;) {
      const asked = performance.now() - start;
      if ((await outcomeOf(instance, text)) === outcome) return inVain;
      if (asked > 20 * SECOND) throw new Error(`it has not become ${outcome}`);
      inVain = asked;
      await delay(5);
    }
  }

  describe('a change of one instance takes effect on another within a second:', () => {
    let one: Instance;
    let other: Instance;
    beforeEach(async () => {
      [one, other] = await Promise.all([openInstance(), openInstance()]);
    });

    it('a revocation', async () => {
      const { key, text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.revokeKey.execute({ id: key.id });
      expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
    });

    it('a key that is disabled, and enabled again', async () => {
      const { key, text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.disableKey.execute({ id: key.id, isDisabled: true });
      expect(await lastInVain(other, text, 'disabled_api_key')).toBeLessThan(SECOND);
      await one.disableKey.execute({ id: key.id, isDisabled: false });
      expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
    });

    it('a change of plan', async () => {
      const { text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.changePlan.execute({ email: EMAIL, plan: { name: 'business' } });
      expect(await lastInVain(other, text, 'business')).toBeLessThan(SECOND);
    });

    it('a change of the scopes that the account is held to', async () => {
      const { text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.holdToScopes.execute({ email: EMAIL, scopes: ['pets:read', 'orders:read'] });
      expect(await lastInVain(other, text, 'free, pets:read,orders:read')).toBeLessThan(SECOND);
      await one.holdToScopes.execute({ email: EMAIL, scopes: undefined });
      expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
    });

    it('a rotation, of both keys', async () => {
      const old = await issue(one);
      expect(await outcomeOf(other, old.text)).toBe('free');
      const { text } = await one.rotateKey.execute({ id: old.key.id, overlap: 0 });
      expect(await outcomeOf(other, text)).toBe('free');
      expect(await lastInVain(other, old.text, 'expired_api_key')).toBeLessThan(SECOND);
    });

    it('a deleted key', async () => {
      const { key, text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await query(`DELETE FROM api_keys WHERE id = ${key.id}`);
      expect(await lastInVain(other, text, 'invalid_api_key')).toBeLessThan(SECOND);
    });

    it('a new key, even if it was tried before', async () => {
      const account = await one.openAccount.execute({ email: EMAIL });
      const { cryptography, clock, apiKeys } = one.ports;
      const text = generateKeyText('live', cryptography);
      expect(await outcomeOf(other, text)).toBe('invalid_api_key');
      await apiKeys.add({
        accountId: account.id,
        hash: cryptography.sha256(text),
        ending: text.slice(-4),
        name: undefined,
        createdAt: clock.now(),
        scopes: undefined,
        expiresAt: undefined,
      });
      expect(await lastInVain(other, text, 'free')).toBeLessThan(SECOND);
    });
  });

  describe.each([
    ['an hour behind', -HOUR],
    ['an hour ahead', HOUR],
  ])('an instance whose clock is %s refuses within a second of the change', (_how, skew) => {
    let one: Instance;
    let other: Instance;
    beforeEach(async () => {
      [one, other] = await Promise.all([openInstance(), openInstance(database.url, skew)]);
    });

    it('a key that was revoked', async () => {
      const { key, text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.revokeKey.execute({ id: key.id });
      expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
    });

    it('a key that was rotated without an overlap', async () => {
      const { key, text } = await issue(one);
      expect(await outcomeOf(other, text)).toBe('free');
      await one.rotateKey.execute({ id: key.id, overlap: 0 });
      expect(await lastInVain(other, text, 'expired_api_key')).toBeLessThan(SECOND);
    });

    it('every key of an account that was closed', async () => {
      const password = 'correct horse battery staple';
      const { id: accountId } = await one.signUp.execute({ email: 'owner@example.com', password });
      const { text } = await one.issueKey.execute({ accountId });
      expect(await outcomeOf(other, text)).toBe('free');
      expect(await one.closeAccount.execute({ accountId, password })).toBe(true);
      expect(await lastInVain(other, text, 'revoked_api_key')).toBeLessThan(SECOND);
    });
  });

  describe('between an instance and its database', () => {
    let gate: DatabaseGate;
    let instance: Instance;
    beforeEach(async () => {
      gate = await DatabaseGate.open(database.url);
      closers.push(async () => {
        gate.shut();
      });
      instance = await openInstance(gate.url);
    });

    it('after a cut every key is refused as unavailable within a second, and recovers by itself', async () => {
      const { text } = await issue(instance);
      const unknown = generateKeyText('live', instance.ports.cryptography);
      expect(await outcomeOf(instance, text)).toBe('free');
      gate.shut();
      expect(await outcomeOf(instance, unknown)).toBe('service_unavailable');
      expect(await lastInVain(instance, text, 'service_unavailable')).toBeLessThan(SECOND);
      expect(await outcomeOf(instance, text)).toBe('service_unavailable');
      await gate.reopen();
      await lastInVain(instance, text, 'free');
      expect(await outcomeOf(instance, unknown)).toBe('invalid_api_key');
    });

    it('a key revoked during a cut is refused from the first answer on', async () => {
      const { key, text } = await issue(instance);
      expect(await outcomeOf(instance, text)).toBe('free');
      gate.shut();
      await lastInVain(instance, text, 'service_unavailable');
      await query(`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`);
      await gate.reopen();
      const outcomes = new Set<string>();
      await until(async () => {
        const outcome = await outcomeOf(instance, text);
        outcomes.add(outcome);
        return outcome === 'revoked_api_key';
      });
      expect(outcomes).not.toContain('free');
    });
  });

  it('no key text is written to the database', async () => {
    const instance = await openInstance();
    const issued = await issue(instance);
    const rotated = await instance.rotateKey.execute({ id: issued.key.id, overlap: HOUR });
    for (const { text } of [issued, rotated]) await instance.authenticate.execute(text);
    await instance.revokeKey.execute({ id: rotated.key.id });
    const used = () => query(`SELECT FROM api_keys WHERE last_used_at IS NOT NULL`);
    await until(async () => (await used()).length === 2);

    const tables = await query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
    );
    const everything = rows.flat().map(({ row }) => row);
    expect(everything.join()).toContain(issued.key.hash);
    for (const { text } of [issued, rotated]) {
      expect(everything.join()).not.toContain(text.slice('aas_live_'.length, -10));
      expect(everything.join()).not.toContain(text.slice(0, 20));
    }
  });
});
