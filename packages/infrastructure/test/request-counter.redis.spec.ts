import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type CountedRequest,
  DAY,
  DEFAULT_BAN_POLICY,
  HOUR,
  type KeyRequester,
  later,
  MINUTE,
  type RequestCounter,
  SECOND,
  type Verdict,
} from '@adoption-store/domain';
import { askRedis, type RedisServer, redisServerFor } from '@adoption-store/test-support';
import { DependencyMonitor } from '../src/kernel/dependency-monitor.js';
import { type CreatedRequestCounter, createRequestCounter } from '../src/quotas/create-request-counter.js';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { ANY_CLOCK, free, newRequester, nextTurn, noon, TIMEOUT } from './request-counters.js';

const openServer = redisServerFor('what happens when Redis is lost');
(openServer === undefined ? describe.skip : describe)('a request counter on Redis', () => {
  const policy = DEFAULT_BAN_POLICY;
  let database: Database;
  let redis: RedisServer;
  let events: string[];
  let monitor: DependencyMonitor;
  let requester: KeyRequester;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    if (openServer === undefined) throw new Error('skipped above');
    redis = await openServer();
    events = [];
    monitor = new DependencyMonitor(({ isUp, reason }) => {
      events.push(isUp ? 'Redis is back' : `Redis is lost: ${reason}`);
    });
    requester = newRequester();
    closing.push(() => redis.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(() => database.close());

  async function open(redisTimeout?: number): Promise<CreatedRequestCounter> {
    const opened = await createRequestCounter({
      redis: { urls: [redis.url] },
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
  async function openShared(): Promise<RedisRequestCounter> {
    const counter = await RedisRequestCounter.connect({ urls: [redis.url] }, policy, TIMEOUT, ANY_CLOCK);
    closing.push(() => {
      counter.close();
    });
    return counter;
  }
  const request = (changes: Partial<CountedRequest> = {}) => ({ requester, limits: free, now: noon, ...changes });
  const timed = async (work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  const isBack = async () => {
    while (!events.some((event) => event.startsWith('Redis is back'))) await nextTurn();
  };

  it('admits exactly the limit of 5,000 parallel requests to four instances', async () => {
    const instances = await Promise.all([1, 2, 3, 4].map(openShared));
    const limits = { perMinute: 777, perDay: 1_000 };
    const verdicts = await Promise.all(
      instances.flatMap((instance) => Array.from({ length: 1_250 }, async () => instance.count(request({ limits })))),
    );
    expect(verdicts.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(777);
  });

  describe('where an API key sends one request upon the other,', () => {
    const limits = { perMinute: 1_000_000, perDay: 10_000_000 };
    /** Sends that many requests, several at a time. */
    async function send(counter: RequestCounter, count: number, changes: Partial<CountedRequest> = {}) {
      const verdicts: Verdict[] = [];
      for (let sent = 0; sent < count; sent += 25) {
        const each = Array.from({ length: Math.min(25, count - sent) }, async () => counter.count(request(changes)));
        verdicts.push(...(await Promise.all(each)));
      }
      return verdicts;
    }
    const usedOf = async (counter: RequestCounter) => {
      const { minute, day } = await counter.look(request({ limits }));
      return [minute.used, day.used];
    };
    it('admits exactly the limit to four instances, which are sent more than that', async () => {
      const instances = await Promise.all([1, 2, 3, 4].map(openShared));
      const few = { perMinute: 40_000, perDay: 50_000 };
      const sent = await Promise.all(instances.map((instance) => send(instance, 12_000, { limits: few })));
      expect(sent.flat().filter(({ outcome }) => outcome === 'admitted')).toHaveLength(40_000);
    });

    it('reports the used count at once', async () => {
      const counter = await openShared();
      await send(counter, 100, { limits });
      expect(await usedOf(counter)).toEqual([100, 100]);
    });

    it('starts a new minute, and continues the day', async () => {
      const counter = await openShared();
      await send(counter, 2_000, { limits });
      const next = later(noon, MINUTE);
      const [first] = await send(counter, 1, { limits, now: next });
      expect([first?.minute.used, first?.outcome]).toEqual([1, 'admitted']);
      const { minute, day } = await counter.look(request({ limits, now: next }));
      expect([minute.used, day.used]).toEqual([1, 2_001]);
    });

    it('continues from the highest reported count once Redis is killed', async () => {
      const { counter } = await open();
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
      while (events.length === 0) await counter.count(request({ limits }));
      expect((await counter.look(request({ limits }))).minute.used).toBeGreaterThan(highest);
    });

    it('applies a changed plan at once', async () => {
      const counter = await openShared();
      await send(counter, 2_000, { limits });
      const [verdict] = await send(counter, 1, { limits: free });
      expect(verdict).toMatchObject({ outcome: 'daily_quota_exceeded', day: { limit: 1_000 } });
    });
  });

  it('writes keys that expire by themselves, soon after their windows, refusals and bans', async () => {
    const counter = await openShared();
    const limits = { perMinute: 1, perDay: 1_000 };
    const expectExpiry = async (key: string, expiry: number) => {
      const left = Number(await askRedis(redis.url, `PTTL quota:${key}`));
      expect(Math.abs(left - expiry)).toBeLessThan(10 * SECOND);
    };
    const account = `account:${requester.accountId}`;
    await counter.count(request({ limits }));
    await expectExpiry(account, 12 * HOUR + MINUTE);
    await counter.count(request({ limits, now: later(noon, SECOND) }));
    await expectExpiry(account, 12 * HOUR + MINUTE - SECOND);
    const banned = later(noon, 2 * SECOND);
    await Promise.all(Array.from({ length: 49 }, async () => counter.count(request({ limits, now: banned }))));
    await expectExpiry(account, DAY + MINUTE);
    await counter.count(request({ requester: { address: '::1' }, limits: { perMinute: 60, perDay: Infinity } }));
    await expectExpiry('address:::1', 2 * MINUTE);
    await counter.probe();
    await expectExpiry('address:probe', 2 * MINUTE);
  });

  it('writes nothing when it is looked at', async () => {
    const counter = await openShared();
    await counter.look(request());
    expect(await askRedis(redis.url, 'DBSIZE')).toBe('0');
  });

  it('decides in process once Redis is killed, from Redis’ last counts, and returns by itself', async () => {
    const { counter, fallbacks } = await open();
    for (let sent = 0; sent < 58; sent++) await counter.count(request());
    await redis.kill();
    const outcomes: string[] = [];
    const firstTook = await timed(async () => outcomes.push((await counter.count(request())).outcome));
    expect(firstTook).toBeLessThan(250);
    for (let sent = 0; sent < 3; sent++) outcomes.push((await counter.count(request())).outcome);
    expect(outcomes).toEqual(['admitted', 'admitted', 'rate_limited', 'rate_limited']);
    expect(fallbacks()).toBe(4);
    expect(events).toEqual([expect.stringContaining('Redis is lost')]);

    await redis.startAgain();
    await isBack();
    expect(events).toHaveLength(2);
    await counter.count(request());
    const shared = await openShared();
    expect((await shared.look(request())).minute.used).toBe(1);
    expect(fallbacks()).toBe(4);
  });

  it('continues with the request after the last reported one once Redis is killed', async () => {
    const { counter, fallbacks } = await open(TIMEOUT);
    const limits = { perMinute: 1_000_000, perDay: 2_000_000 };
    for (let sent = 0; sent < 90; sent++) await counter.count(request({ limits }));
    await redis.kill();
    const { minute, day } = await counter.count(request({ limits }));
    expect([minute.used, day.used, fallbacks()]).toEqual([91, 91, 1]);
  });

  it('decides in process once Redis is frozen, waits for it only once, and returns by itself', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    redis.freeze();
    const firstTook = await timed(() => Promise.all(Array.from({ length: 20 }, async () => counter.count(request()))));
    const nextTook = await timed(async () => {
      for (let sent = 0; sent < 39; sent++) await counter.count(request());
    });
    console.info(`Redis frozen: decided after ${firstTook.toFixed(1)} ms, the next 39 in ${nextTook.toFixed(1)} ms`);
    expect(firstTook).toBeLessThan(250);
    expect(nextTook).toBeLessThan(50);
    expect((await counter.look(request())).minute.used).toBe(60);
    expect((await counter.count(request())).outcome).toBe('rate_limited');
    expect([fallbacks(), events.length]).toEqual([60, 1]);
    redis.thaw();
    await isBack();
    expect((await counter.count(request())).outcome).toBe('admitted');
    expect(fallbacks()).toBe(60);
  });

  it('decides in process while Redis is reachable but refuses writes', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    await askRedis(redis.url, 'REPLICAOF 127.0.0.1 1');
    expect((await counter.count(request())).minute.used).toBe(2);
    // Enough turns for several attempts to fail.
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect((await counter.count(request())).minute.used).toBe(3);
    expect([fallbacks(), events]).toEqual([2, [expect.stringContaining('READONLY')]]);
    await askRedis(redis.url, 'REPLICAOF NO ONE');
    await isBack();
    expect((await counter.count(request())).minute.used).toBe(2);
  });

  it('does not consider Redis lost because this process was busy', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    const pending = counter.count(request());
    const startedAt = performance.now();
    while (performance.now() - startedAt < 200);
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

  it('purges PostgreSQL’s rows, and decides as before, with Redis and without', async () => {
    const { counter } = await open(TIMEOUT);
    const { dataSource } = database;
    const purge = async () => {
      await dataSource.query(`
        INSERT INTO accounts (email, plan, created_at) VALUES ('old@example.com', 'free', now()) ON CONFLICT DO NOTHING`);
      await dataSource.query(`INSERT INTO request_counts SELECT id, '2025-12-24T00:00:00Z', 5 FROM accounts`);
      return counter.purge(noon);
    };
    await counter.count(request());
    expect(await purge()).toBe(1);
    expect(await counter.count(request())).toMatchObject({ minute: { used: 2 }, day: { used: 2 } });
    await redis.kill();
    expect(await purge()).toBe(1);
    expect(await counter.count(request())).toMatchObject({ minute: { used: 3 }, day: { used: 3 } });
  });

  it('starts without Redis, and uses it once it is there', async () => {
    await redis.kill();
    const { counter } = await open();
    expect((await counter.count(request())).outcome).toBe('admitted');
    expect(events).toEqual([expect.stringContaining('Redis is lost')]);
    await redis.startAgain();
    await isBack();
    await counter.count(request());
    expect((await (await openShared()).look(request())).minute.used).toBe(1);
  });
});
