import { subscribe, unsubscribe } from 'node:diagnostics_channel';
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
  connectTo,
  createDatabase,
  DatabaseGate,
  expectDatabaseErrors,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DatabaseState, KeyCache, type KeysFound } from '../src/accounts/key-cache.js';
import { TypeOrmApiKeyRepository } from '../src/accounts/typeorm-api-key-repository.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { closedAfterEach, openPostgres, openStore } from './databases.js';
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
  /** The state of the database, and the accounts that have changed since the query before. */
  let state: DatabaseState | undefined;
  let changed: Set<AccountId>;
  let cache: KeyCache;

  beforeEach(() => {
    // No time passes for the time limit of the database, however slow the machine is.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    [time, takes, queries, stored] = [5_000, 0, [], new Map<string, AccountKey>()];
    [state, changed] = [{ snapshot: '10:10:', server: 'one', at: 0 }, new Set()];
    cache = new KeyCache(findAll, { now: () => time });
  });
  afterEach(async () => {
    await answered();
    jest.useRealTimers();
  });

  async function findAll(asked: readonly string[]): Promise<KeysFound> {
    queries.push(asked.length);
    // The answer is the state at the arrival of the query, however late it is returned.
    const found = { state: state && { ...state }, changed, keys: asked.map((hash) => stored.get(hash)) };
    changed = new Set();
    await new Promise(setImmediate);
    time += takes;
    return found;
  }

  function add(hash: string, revokedAt?: Instant, owner = hash): void {
    const accountId = BigInt(`0x${owner}`) as AccountId;
    const key: AccountKey['key'] = {
      accountId,
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
    stored.set(hash, { account: { ...account, id: accountId }, key });
    changed.add(accountId);
  }

  const isCached = (hash: string) => {
    const found = cache.find(hash);
    if (!(found instanceof Promise)) return true;
    found.catch(() => undefined);
    return false;
  };
  /** Until what was asked in the background is answered. */
  const answered = async () => {
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
  };

  it('asks four times a second what has changed, in one query for all keys, and nothing while it is unused', async () => {
    for (const hash of hashes(100)) {
      add(hash);
      await cache.find(hash);
    }
    queries = [];
    for (let tenth = 0; tenth < 20; tenth += 1) {
      time += 50;
      expect(hashes(100).every(isCached)).toBe(true);
      await answered();
    }
    expect(queries).toEqual([1, 1, 1, 1]);
    time += 60_000;
    await answered();
    expect(queries).toHaveLength(4);
  });

  it('removes all keys of a changed account, and keeps the others', async () => {
    const [one = '', second = '', other = ''] = hashes(3);
    add(one);
    add(second, undefined, one);
    add(other);
    await Promise.all([one, second, other].map(async (hash) => cache.find(hash)));
    add(one, NOW);
    time += 250;
    // This use asks.
    expect(isCached(one)).toBe(true);
    await answered();
    expect(isCached(other)).toBe(true);
    expect(isCached(second)).toBe(false);
    expect(await cache.find(one)).toMatchObject({ key: { revokedAt: NOW } });
  });

  it('uses no entry once a second has passed since the start of the last answered question', async () => {
    const hash = hashOf(1);
    add(hash);
    takes = 900;
    await cache.find(hash);
    [time, takes] = [time + 99, 1_500];
    expect(isCached(hash)).toBe(true);
    time += 1;
    expect(isCached(hash)).toBe(false);
  });

  it('answers nothing that a read of a second has found', async () => {
    const hash = hashOf(1);
    add(hash);
    takes = 1_000;
    for (const asked of [hash, hash, hashOf(2)])
      await expect(cache.find(asked)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(queries).toHaveLength(3);
    takes = 0;
    expect(await cache.find(hash)).toBeDefined();
  });

  it.each<[string, () => DatabaseState | undefined]>([
    ['another server or a restored table', () => ({ snapshot: '10:10:', server: 'other', at: 0 })],
    ['a pause of more than half a minute', () => ({ snapshot: '10:10:', server: 'one', at: 30_001 })],
    ['a clock of the server that was set back', () => ({ snapshot: '10:10:', server: 'one', at: -30_001 })],
    ['a standby, which keeps none either,', () => undefined],
  ])('%s removes all entries', async (_case, next) => {
    const [one = '', other = ''] = hashes(2);
    for (const hash of [one, other]) add(hash);
    await cache.find(one);
    state = next();
    await cache.find(other);
    expect(isCached(one)).toBe(false);
    await answered();
    expect(isCached(other)).toBe(state !== undefined);
  });

  it('keeps 100,000 entries', async () => {
    const [first = '', ...others] = hashes(100_001);
    for (const hash of [first, ...others]) add(hash);
    changed = new Set();
    await cache.find(first);
    for (let from = 0; from < others.length; from += 1_000)
      await Promise.all(others.slice(from, from + 1_000).map(async (hash) => cache.find(hash)));
    expect([others[0] ?? '', others.at(-1) ?? ''].every(isCached)).toBe(true);
    expect(isCached(first)).toBe(false);
  });

  it('asks for the keys of look-ups that arrive together at once, of at most 1,000', async () => {
    const all = hashes(2_500);
    for (const hash of all.slice(0, 1_250)) add(hash);
    const found = await Promise.all(all.map(async (hash) => cache.find(hash)));
    expect(found.map((each) => each?.key.hash)).toEqual(all.map((hash, index) => (index < 1_250 ? hash : undefined)));
    // The first arrived alone.
    expect(queries).toEqual([1, 1_000, 1_000, 499]);
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
    const { ports } = await openStore(closers, databaseUrl, { poolSize: 10 });
    return createApplication({ ...ports, clock: { now: () => instant(Date.now() + skew) } }, testPolicy());
  }

  async function issue({ openAccount, issueKey }: Application, email = 'dev@example.com') {
    const { id: accountId } = await openAccount.execute({ email });
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

  it('are refused after any change, by hand and however late it commits, and as soon as it does', async () => {
    const instance = await openInstance();
    const { key, text } = await issue(instance);
    const other = await issue(instance, 'other@example.com');
    const isKnown = async () => (await outcomeOf(instance, text)) === 'free';
    await until(isKnown);
    const [late, early] = [await connectTo(database.url), await connectTo(database.url)];
    closers.push(() => Promise.all([late.end(), early.end()]));
    // The triggers of the cache run for whoever turns triggers off, too.
    await late.query('SET session_replication_role = replica; BEGIN');
    await late.query(`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`);
    // Begins later, and is asked for and seen before.
    await early.query(`UPDATE accounts SET plan = 'pro' WHERE id = ${other.key.accountId}`);
    await becomes('pro', instance, other.text);
    expect(await isKnown()).toBe(true);
    await late.query('COMMIT');
    await becomes('revoked_api_key', instance, text);
    await early.query(`DELETE FROM api_keys WHERE id = ${other.key.id}`);
    await becomes('invalid_api_key', instance, other.text);
  });

  it('are noted as changed until a purge a minute after one that saw the change', async () => {
    const { key } = await issue(await openInstance());
    const dataSource = await openDataSource({ connectionString: database.url }, entitySchemas);
    closers.push(() => dataSource.destroy());
    let time = 0;
    const repository = new TypeOrmApiKeyRepository(dataSource, { now: () => time });
    const late = await connectTo(database.url);
    closers.push(() => late.end());
    const disable = `UPDATE api_keys SET disabled_at = now() WHERE id = ${key.id}`;
    const noted = () => ask(database.url, 'SELECT account_id FROM access_changes');
    const purge = () => repository.purge(instant(0));
    // Transactions of other databases hold back what a snapshot has seen the end of.
    const allEnded = () =>
      until(async () => {
        const past = `SELECT FROM access_changes WHERE transaction >= pg_snapshot_xmin(pg_current_snapshot())`;
        return (await ask(database.url, past)).length === 0;
      });
    await ask(database.url, disable);
    await allEnded();
    await late.query('BEGIN');
    await late.query(`UPDATE accounts SET plan = 'pro' WHERE id = ${key.accountId}`);
    // Begins later, and ends before.
    await ask(database.url, disable);
    await purge();
    await late.query('COMMIT');
    await allEnded();
    time = 59_999;
    await purge();
    expect(await noted()).toHaveLength(3);
    time = 60_000;
    await purge();
    expect(await noted()).toHaveLength(2);
    time = 120_000;
    await purge();
    expect(await noted()).toEqual([]);
  });

  it('are purged of a bulk of noted changes by statements of 1,000 rows', async () => {
    const dataSource = await openDataSource({ connectionString: database.url }, entitySchemas);
    closers.push(() => dataSource.destroy());
    let time = 0;
    const repository = new TypeOrmApiKeyRepository(dataSource, { now: () => time });
    await ask(
      database.url,
      "INSERT INTO access_changes (transaction, account_id) SELECT '3', n FROM generate_series(1, 2500) AS n",
    );
    await repository.purge(instant(0));
    time = 60_000;
    let statements = 0;
    const count = (message: unknown) => {
      if ((message as { readonly name: string }).name === 'access changes delete') statements += 1;
    };
    subscribe('tracing:adoption-store:query:start', count);
    await repository.purge(instant(0));
    unsubscribe('tracing:adoption-store:query:start', count);
    expect(statements).toBe(4);
    expect(await ask(database.url, 'SELECT FROM access_changes')).toEqual([]);
  });

  it('are noted as changed by every column but the last use', async () => {
    expect(
      await ask(
        database.url,
        `SELECT attname FROM pg_attribute WHERE attrelid = 'api_keys'::regclass AND attnum > 0 AND NOT attisdropped
          AND attnum <> ALL ((SELECT tgattr FROM pg_trigger WHERE tgname = 'api_keys_access')::smallint[])`,
      ),
    ).toEqual([{ attname: 'last_used_at' }]);
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
