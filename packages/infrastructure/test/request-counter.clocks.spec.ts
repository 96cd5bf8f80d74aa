import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  DAY,
  DEFAULT_BAN_POLICY,
  HOUR,
  type Instant,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  NO_REFUSALS,
  NO_USAGE,
  startOf,
} from '@adoption-store/domain';
import { redisFor } from '@adoption-store/test-support';
import { createRequestCounter } from '../src/quotas/create-request-counter.js';
import { PostgresCountsStore } from '../src/quotas/postgres-counts-store.js';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { newRequester, storedRequester } from './request-counters.js';

// The real time, because the clocks of PostgreSQL and Redis decide which instance's clock is wrong.
const now = instant(Date.now());
const today = startOf(DAY, now);
const minute = startOf(MINUTE, now);
const limits = { perMinute: 10, perDay: 1_000 };

describe('stored counts', () => {
  let database: Database;
  let requester: KeyRequester;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.close());

  const fail = (event: string) => {
    throw new Error(event);
  };
  const newStore = () => new PostgresCountsStore(database.dataSource, fail);
  /** Each write is that of another instance. */
  const write = async (usage: object, refusals: object = {}) => {
    const store = newStore();
    store.store(requester, { usage: { ...NO_USAGE, ...usage }, refusals: { ...NO_REFUSALS, ...refusals } });
    await store.close();
  };
  /** Rows of the version before, which stored what lay ahead. */
  const writeAhead = async (ahead: number) => {
    const [start, end] = [later(now, ahead), later(now, ahead + HOUR)].map((time) => new Date(time));
    await database.dataSource.query('INSERT INTO request_counts VALUES ($1, $2, 9, $2, 9)', [
      requester.accountId,
      start,
    ]);
    await database.dataSource.query('INSERT INTO key_bans VALUES ($1, $2, $3)', [requester.keyId, start, end]);
  };
  const read = () => newStore().read(requester);
  const ban = (bannedAt: Instant) => ({ bannedAt, bannedUntil: later(bannedAt, HOUR) });
  const usage = { dayStart: today, dayUsed: 7, minuteStart: minute, minuteUsed: 3 };

  it('replace those that lie ahead of the database’s clock', async () => {
    requester = await storedRequester(database);
    await writeAhead(2 * DAY);
    await write(usage, ban(now));
    expect(await read()).toEqual({ usage, refusals: { ...NO_REFUSALS, ...ban(now) } });
  });

  it('are not replaced by days and bans that lie ahead of the database’s clock', async () => {
    requester = await storedRequester(database);
    await write(usage, ban(now));
    await write({ dayStart: later(today, DAY + HOUR), dayUsed: 1 }, ban(later(now, HOUR)));
    expect(await read()).toEqual({ usage, refusals: { ...NO_REFUSALS, ...ban(now) } });
  });

  it('lose a minute that lies ahead at the next write, and keep their day', async () => {
    requester = await storedRequester(database);
    await write({ ...usage, minuteStart: later(minute, HOUR) });
    await write({ ...usage, dayUsed: 6 });
    expect((await read()).usage).toEqual(usage);
  });

  it('are not reset by an instance whose clock is behind', async () => {
    requester = await storedRequester(database);
    await write(usage, ban(now));
    await write({ dayStart: later(today, -DAY), dayUsed: 1, minuteStart: later(minute, -HOUR), minuteUsed: 1 });
    await write({ ...usage, dayUsed: 1, minuteStart: later(minute, -HOUR), minuteUsed: 1 }, ban(later(now, -HOUR)));
    expect(await read()).toEqual({ usage, refusals: { ...NO_REFUSALS, ...ban(now) } });
  });

  it('continue the day once a clock that was a day ahead is corrected', async () => {
    requester = await storedRequester(database);
    const { counter, close } = await createRequestCounter({
      ...{ dataSource: database.dataSource, policy: DEFAULT_BAN_POLICY, onEvent: fail, onRedisState: () => undefined },
    });
    await write(usage);
    const count = async (at: Instant) => counter.count({ requester, limits, now: at });
    expect((await count(now)).day.used).toBe(8);
    expect((await count(later(now, DAY))).day.used).toBe(1);
    expect((await count(now)).day.used).toBeGreaterThanOrEqual(8);
    await close();
    expect((await read()).usage.dayUsed).toBeGreaterThanOrEqual(8);
  });

  it('are purged if they lie more than a day ahead of the database’s clock', async () => {
    requester = await storedRequester(database);
    await writeAhead(2 * DAY);
    expect(await newStore().purge(now)).toBe(2);
    await writeAhead(HOUR);
    expect(await newStore().purge(now)).toBe(0);
  });
});

const openRedis = redisFor('instances on Redis with wrong clocks');
(openRedis === undefined ? describe.skip : describe)('instances on Redis', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const openInstances = async (number: number) => {
    if (openRedis === undefined) throw new Error('skipped above');
    const redis = await openRedis();
    closing.push(() => redis.close());
    const connect = () => RedisRequestCounter.connect({ urls: [redis.url] }, DEFAULT_BAN_POLICY, 20_000);
    const instances = await Promise.all(Array.from({ length: number }, connect));
    closing.push(
      ...instances.map((instance) => () => {
        instance.close();
      }),
    );
    return instances;
  };

  it.each([
    ['an hour ahead', [0, HOUR]],
    ['an hour behind', [0, -HOUR]],
    ['all wrong', [-DAY, 2 * HOUR, 400 * DAY]],
  ])('together admit one limit in a minute, and agree on its end, where clocks are %s', async (_which, offsets) => {
    const instances = await openInstances(offsets.length);
    const requester = newRequester();
    const startedAt = startOf(MINUTE, instant(Date.now()));
    const verdicts = [];
    for (let turn = 0; turn < 30; turn += 1) {
      for (const [index, instance] of instances.entries()) {
        const at = later(instant(Date.now()), offsets[index] ?? 0);
        verdicts.push(await instance.count({ requester, limits, now: at }));
        const { minute } = await instance.look({ requester, limits, now: at });
        expect(minute.resetsAt).toBe(verdicts.at(-1)?.minute.resetsAt);
      }
    }
    // Two if the test ran across the end of a minute.
    const minutes = 1 + (startOf(MINUTE, instant(Date.now())) - startedAt) / MINUTE;
    const admitted = verdicts.filter(({ outcome }) => outcome === 'admitted');
    expect(admitted.length).toBeLessThanOrEqual(minutes * limits.perMinute);
    expect(new Set(verdicts.map(({ minute }) => minute.resetsAt)).size).toBeLessThanOrEqual(minutes);
  });

  it('use their own clocks where these differ from Redis’ by less than a minute', async () => {
    const [instance] = await openInstances(1);
    const at = later(instant(Date.now()), MINUTE / 2);
    const verdict = await instance?.count({ requester: newRequester(), limits, now: at });
    expect(verdict?.minute.resetsAt).toBe(later(startOf(MINUTE, at), MINUTE));
  });
});
