import {
  type AccountId,
  type BanPolicy,
  type CountedRequest,
  DAY,
  DEFAULT_BAN_POLICY,
  HOUR,
  type Instant,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  MOST_SKEW,
  SECOND,
  startOf,
} from '@adoption-store/domain';
import { ask, askRedis, type RedisServer, redisFor, redisServerFor } from '@adoption-store/test-support';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DependencyMonitor } from '../src/kernel/dependency-monitor.js';
import { createRequestCounter } from '../src/limits/create-request-counter.js';
import type { FallbackRequestCounter } from '../src/limits/fallback-request-counter.js';
import { RedisRequestCounter } from '../src/limits/redis-request-counter.js';
import { closedAfterEach, type Database, openDatabase } from './databases.js';
import {
  ANY_CLOCK,
  counterSuites,
  free,
  newKey,
  newRequester,
  nextTurn,
  noon,
  openOnDatabase,
  storedRequester,
  TIMEOUT,
} from './limits.counters.js';

const openRedis = redisFor('request counters on Redis');
if (openRedis !== undefined) {
  const open = async (policy: BanPolicy) => {
    const redis = await openRedis();
    const opened = await openOnDatabase(policy, [redis.url]);
    return { ports: opened.ports, close: () => opened.close().then(() => redis.close()) };
  };
  counterSuites('Redis, with a fallback', open, 2 * MOST_SKEW);
}

/** As in production. */
const TOLERATED = MINUTE;

const openServer = redisServerFor('what happens when Redis is lost');
(openServer === undefined ? describe.skip : describe)('a request counter on Redis', () => {
  const policy = DEFAULT_BAN_POLICY;
  let database: Database;
  let redis: RedisServer;
  let events: string[];
  let monitor: DependencyMonitor;
  let requester: KeyRequester;
  const closing = closedAfterEach();
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    if (openServer === undefined) throw new Error('skipped above');
    redis = await openServer();
    events = [];
    monitor = new DependencyMonitor(({ state, reason }) => {
      if (state !== 'still lost') events.push(`Redis is ${state}: ${reason ?? ''}`);
    });
    requester = newRequester();
    closing.push(() => redis.close());
  });
  afterAll(() => database.close());

  async function open(redisTimeout?: number) {
    const opened = await createRequestCounter({
      redis: [redis.url],
      redisTimeout,
      redisTolerance: ANY_CLOCK,
      dataSource: database.dataSource,
      policy,
      onEvent: (event) => events.push(event),
      onRedisState: (failure) => {
        monitor.record('redis', failure);
      },
    });
    closing.push(() => opened.close());
    return opened;
  }
  async function openShared(tolerance = ANY_CLOCK, timeout = TIMEOUT): Promise<RedisRequestCounter> {
    const counter = await RedisRequestCounter.connect([redis.url], policy, timeout, tolerance);
    closing.push(() => {
      counter.close();
    });
    return counter;
  }
  const request = (changes: Partial<CountedRequest> = {}) => ({ requester, limits: free, now: noon, ...changes });
  const isBack = async () => {
    while (!events.some((event) => event.startsWith('Redis is back'))) await nextTurn();
  };

  it('writes keys that expire by themselves, once nothing in them can matter any more', async () => {
    const counter = await openShared();
    const limits = { perMinute: 1, perDay: 1_000 };
    const expectExpiry = async (key: string, expiry: number) => {
      const left = Number(await askRedis(redis.url, `PTTL quota:${key}`));
      expect(Math.abs(left - expiry)).toBeLessThan(10 * SECOND);
    };
    await counter.count(request({ limits }));
    await expectExpiry(`account:${requester.accountId}`, DAY + MINUTE + MOST_SKEW);
    await counter.count(request({ requester: { address: '::1' }, limits: { perMinute: 60, perDay: Infinity } }));
    await expectExpiry('address:::1', MINUTE + MOST_SKEW);
    await counter.probe();
    await expectExpiry('address:probe', MINUTE + MOST_SKEW);
  });

  it('writes nothing when it is looked at', async () => {
    const counter = await openShared();
    await counter.peek(request());
    expect(await askRedis(redis.url, 'DBSIZE')).toBe('0');
  });

  it('decides in process once Redis is killed, from the highest reported count, and returns by itself', async () => {
    const { counter, fallbacks } = await open(TIMEOUT);
    const limits = { perMinute: 1_000_000, perDay: 10_000_000 };
    let highest = 0;
    /** So that several calls are in progress at the same time. */
    const sendApart = async (turns: number) => {
      for (let sent = 0; sent < 100; sent++) {
        const { minute } = await counter.count(request({ limits }));
        highest = Math.max(highest, minute.used);
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, caller) => sendApart(caller % 4)));
    await redis.kill();
    const { minute, day } = await counter.count(request({ limits }));
    expect([minute.used, day.used, fallbacks()]).toEqual([highest + 1, highest + 1, 1]);
    // Now the account has a smaller plan.
    expect((await counter.count(request())).outcome).toBe('daily_quota_exceeded');
    expect(events).toEqual([expect.stringContaining('Redis is lost')]);
    await redis.startAgain();
    await isBack();
    expect(events).toHaveLength(2);
    await counter.count(request());
    const shared = await openShared();
    expect((await shared.peek(request())).minute.used).toBe(1);
    expect(fallbacks()).toBe(2);
  });

  it('decides in process once Redis is frozen, soon waits for it no more, and returns by itself', async () => {
    const { counter, fallbacks } = await open(500);
    await counter.count(request());
    redis.freeze();
    await Promise.all(Array.from({ length: 20 }, async () => counter.count(request())));
    for (let sent = 0; sent < 39; sent++) await counter.count(request());
    expect((await counter.peek(request())).minute.used).toBe(60);
    expect((await counter.count(request())).outcome).toBe('rate_limited');
    expect([fallbacks(), events.length]).toEqual([60, 1]);
    redis.thaw();
    await isBack();
    expect((await counter.count(request())).outcome).toBe('rate_limited');
    expect((await counter.count(request({ now: later(noon, MINUTE) }))).outcome).toBe('admitted');
    expect(fallbacks()).toBe(60);
  });

  it('admits at most a limit to each instance in ten losses of Redis and its counts, and one limit to all in the next minute', async () => {
    const instances = [await open(TIMEOUT), await open(TIMEOUT)];
    const limits = { perMinute: 200, perDay: 1_000_000 };
    const send = async (now: Instant) => {
      const sent = instances.map(async ({ counter }) =>
        // Each by a new key, so that none is banned.
        counter.count(request({ requester: { accountId: requester.accountId, keyId: newKey() }, limits, now })),
      );
      return (await Promise.all(sent)).filter(({ outcome }) => outcome === 'admitted').length;
    };
    let admitted = 0;
    for (let losses = 0; losses < 10; losses += 1) {
      for (let sent = 0; sent < 50; sent += 1) admitted += await send(noon);
      await redis.kill();
      for (let sent = 0; sent < 5; sent += 1) admitted += await send(noon);
      await redis.startAgain();
      while (!instances.every(({ counter }) => (counter as FallbackRequestCounter).isShared)) {
        admitted += await send(noon);
        await nextTurn();
      }
    }
    for (let sent = 0; sent < 200; sent += 1) admitted += await send(noon);
    expect(admitted).toBe(instances.length * limits.perMinute);
    let next = 0;
    for (let sent = 0; sent < 150; sent += 1) next += await send(later(noon, MINUTE));
    expect(next).toBe(limits.perMinute);
  });

  describe('with an account of many keys', () => {
    const none = { perMinute: 0, perDay: 1_000 };
    const fields = async () => Number(await askRedis(redis.url, `HLEN quota:account:${requester.accountId}`));
    /** Refuses each of so many new keys so many times. */
    const refuse = async (counter: RedisRequestCounter, keys: number, times: number) => {
      const requesters = Array.from({ length: keys }, () => ({ accountId: requester.accountId, keyId: newKey() }));
      const sent = requesters.flatMap((each) => Array<KeyRequester>(times).fill(each));
      await Promise.all(sent.map((each) => counter.count(request({ requester: each, limits: none }))));
    };

    it('costs no more than a new account, however many of its keys have ended or are banned', async () => {
      const counter = await openShared();
      await refuse(counter, 1_000, policy.refusals);
      await refuse(counter, 1_000, 1);
      // With the account's counts.
      expect(await fields()).toBe(2_001);
      const costOf = async (accountId: AccountId) => {
        await askRedis(redis.url, 'CONFIG RESETSTAT');
        for (let sent = 0; sent < 40; sent += 1) {
          // One of ten is the first one of its minute.
          const now = later(noon, 10 * MINUTE + Math.floor(sent / 10) * MINUTE);
          await counter.count(request({ requester: { accountId, keyId: newKey() }, now }));
        }
        const statistics = await askRedis(redis.url, 'INFO commandstats');
        const commands = statistics.match(/cmdstat_(?:h(?!del)|pexpire)\w+:calls=\d+/g)?.sort();
        return { commands, time: Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(statistics)?.[1]) };
      };
      // The first call sends the script.
      await costOf(newRequester().accountId);
      let [time, timeOfNew] = [Infinity, Infinity];
      // Something else may use the processor, so the fastest rounds are compared. Reading all fields takes fifty times as
      // long.
      for (let round = 0; round < 10; round += 1) {
        const [cost, costOfNew] = [await costOf(requester.accountId), await costOf(newRequester().accountId)];
        expect(cost.commands).toEqual(costOfNew.commands);
        [time, timeOfNew] = [Math.min(time, cost.time), Math.min(timeOfNew, costOfNew.time)];
      }
      expect(time).toBeLessThan(5 * timeOfNew);
    });

    it('removes what can affect no decision any more, and no ban before', async () => {
      const counter = await openShared();
      await refuse(counter, 20, policy.refusals);
      await refuse(counter, 100, 1);
      const countEachMinute = async (from: Instant, minutes: number) => {
        for (let minute = 0; minute < minutes; minute += 1) {
          await counter.count(request({ now: later(from, minute * MINUTE), limits: { perMinute: 1, perDay: 10_000 } }));
        }
        return fields();
      };
      expect(await countEachMinute(noon, 5)).toBe(121);
      expect(await countEachMinute(later(noon, 5 * MINUTE), 23 * 60)).toBe(21);
      expect(await countEachMinute(later(noon, DAY - HOUR), 64)).toBe(21);
      expect(await countEachMinute(later(noon, DAY + 2 * MOST_SKEW), 1_000)).toBe(1);
    });
  });

  it('does not consider Redis lost because this process was busy', async () => {
    const { counter, fallbacks } = await open(200);
    await counter.count(request());
    const pending = counter.count(request());
    const startedAt = performance.now();
    while (performance.now() - startedAt < 500);
    await pending;
    expect([fallbacks(), events]).toEqual([0, []]);
  });

  it('keeps a key banned that was banned when Redis was lost', async () => {
    const { counter } = await open(TIMEOUT);
    const limits = { perMinute: 1, perDay: 1_000 };
    for (let sent = 0; sent < 51; sent++) await counter.count(request({ limits }));
    await redis.kill();
    expect(await counter.count(request({ limits, now: later(noon, MINUTE) }))).toMatchObject({
      outcome: 'key_banned',
      bannedUntil: later(noon, 5 * MINUTE),
    });
  });

  it('purges PostgreSQL’s rows', async () => {
    const { counter } = await open();
    const { accountId } = await storedRequester(database);
    await ask(database.url, `INSERT INTO request_counts VALUES (${accountId}, '2025-12-24T00:00:00Z', 5)`);
    expect(await counter.purge(noon)).toBe(1);
  });

  it('admits one limit in a minute to instances whose clocks are all wrong, and ends it for all at once', async () => {
    const offsets = [-DAY, 2 * HOUR, 400 * DAY];
    const instances = await Promise.all(offsets.map(() => openShared(TOLERATED)));
    const limits = { perMinute: 10, perDay: 1_000 };
    const minuteNow = () => startOf(MINUTE, instant(Date.now()));
    const startedAt = minuteNow();
    const verdicts = [];
    for (let turn = 0; turn < 30; turn += 1) {
      for (const [index, instance] of instances.entries()) {
        const now = later(instant(Date.now()), offsets[index] ?? 0);
        verdicts.push(await instance.count(request({ limits, now })));
      }
    }
    // Two if the test ran across the end of a minute.
    const minutes = 1 + (minuteNow() - startedAt) / MINUTE;
    const admitted = verdicts.filter(({ outcome }) => outcome === 'admitted');
    expect(admitted.length).toBeLessThanOrEqual(minutes * limits.perMinute);
    expect(new Set(verdicts.map(({ minute }) => minute.resetsAt)).size).toBeLessThanOrEqual(minutes);
  });

  it('uses the clocks of instances that differ from Redis’ by less than a minute', async () => {
    const now = later(instant(Date.now()), MINUTE / 2);
    const { minute } = await (await openShared(TOLERATED)).count(request({ now }));
    expect(minute.resetsAt).toBe(later(startOf(MINUTE, now), MINUTE));
  });

  describe('has a connection that', () => {
    const open = (timeout = TIMEOUT) => openShared(TOLERATED, timeout);
    const newRequest = (): CountedRequest => ({ requester: newRequester(), limits: free, now: noon });
    const becomes = async (counter: RedisRequestCounter, isReady: boolean) => {
      while (counter.isReady !== isReady) await nextTurn();
    };
    /** The id that Redis gave the counter's connection. */
    const connection = async () => {
      const clients = await askRedis(redis.url, 'CLIENT LIST');
      return /id=(\d+) .*name=adoption-store/.exec(clients)?.[1];
    };
    /** Calls of the script. */
    const calls = async () => {
      const statistics = await askRedis(redis.url, 'INFO commandstats');
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1]);
    };
    it('says why it can’t connect, until it can', async () => {
      await redis.kill();
      const counter = await open();
      expect([counter.isReady, counter.connectionError]).toEqual([
        false,
        expect.objectContaining({ code: 'ECONNREFUSED' }),
      ]);
      await redis.startAgain();
      await becomes(counter, true);
      expect(counter.connectionError).toBeUndefined();
    });

    it('replaces a connection without an answer to a probe', async () => {
      const counter = await open(100);
      const before = await connection();
      redis.freeze();
      await expect(counter.probe()).rejects.toThrow('no answer within 100 ms');
      redis.thaw();
      while ([undefined, before].includes(await connection())) await nextTurn();
      await becomes(counter, true);
    });

    it('connects again once Redis refuses to write, because a failover may have moved its address', async () => {
      const counter = await open();
      const before = await connection();
      await askRedis(redis.url, 'REPLICAOF 127.0.0.1 1');
      await expect(counter.count(newRequest())).rejects.toThrow('READONLY');
      while ([undefined, before].includes(await connection())) await nextTurn();
    });

    it('sends the requests that arrive in a turn and the next in one call, of at most 500 requesters', async () => {
      const counter = await open();
      // The first call sends the script.
      for (const request of [newRequest(), newRequest()]) await counter.count(request);
      const before = await calls();
      await Promise.all(Array.from({ length: 500 }, () => counter.count(newRequest())));
      expect((await calls()) - before).toBe(1);
      await Promise.all(Array.from({ length: 501 }, () => counter.count(newRequest())));
      expect((await calls()) - before).toBe(3);
      const next = new Promise(setImmediate).then(() => counter.count(newRequest()));
      await Promise.all([counter.count(newRequest()), next]);
      expect((await calls()) - before).toBe(4);
    });
  });
});
