import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  DAY,
  DEFAULT_BAN_POLICY,
  HOUR,
  type Instant,
  type KeyRequester,
  later,
  MINUTE,
  NO_REFUSALS,
  type RequestCounter,
  SECOND,
} from '@adoption-store/domain';
import pg from 'pg';
import { createRequestCounter, type CreatedRequestCounter } from '../src/quotas/create-request-counter.js';
import { InProcessRequestCounter } from '../src/quotas/in-process-request-counter.js';
import { PostgresCountsStore } from '../src/quotas/postgres-counts-store.js';
import { type Database, openDatabase } from './databases.js';
import { free, midnight, newKey, newRequester, nextTurn, noon, storedRequester } from './request-counters.js';

describe('a request counter in this process', () => {
  const policy = DEFAULT_BAN_POLICY;
  let database: Database;
  let requester: KeyRequester;
  const stores: PostgresCountsStore[] = [];
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    requester = await storedRequester(database);
  });
  afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())));
  afterAll(() => database.close());

  const start = (onEvent: (message: string) => void = () => undefined): Promise<CreatedRequestCounter> =>
    createRequestCounter({
      dataSource: database.dataSource,
      policy,
      onEvent,
      onRedisState: () => undefined,
    });
  function startByHand(onEvent: (message: string) => void = () => undefined) {
    const store = new PostgresCountsStore(database.dataSource, onEvent);
    stores.push(store);
    return { counter: new InProcessRequestCounter(policy, store), store };
  }
  const send = async (counter: RequestCounter, times: number, now: Instant, limits = free) => {
    for (let sent = 0; sent < times; sent++) await counter.count({ requester, limits, now });
  };
  const dayUsed = async (counter: RequestCounter, now: Instant) =>
    (await counter.look({ requester, limits: free, now })).day.used;
  const storedDayUsed = async () => {
    const rows = await database.dataSource.query<{ day_used: number }[]>(
      'SELECT day_used FROM request_counts WHERE account_id = $1',
      [String(requester.accountId)],
    );
    return rows[0]?.day_used;
  };

  it('continues from the highest counts of decisions made elsewhere, in any order', async () => {
    const counter = startByHand().counter;
    const usage = { minuteStart: noon, minuteUsed: 5, dayStart: midnight, dayUsed: 50 };
    const next = { ...usage, minuteStart: later(noon, MINUTE), minuteUsed: 1, dayUsed: 51 };
    const usedAfter = async (...usages: (typeof usage)[]) => {
      for (const each of usages) {
        const request = { requester, limits: free, now: each.minuteStart };
        counter.remember(request, { usage: each, refusals: NO_REFUSALS });
      }
      const { minute, day } = await counter.look({ requester, limits: free, now: later(noon, MINUTE + SECOND) });
      return [minute.used, day.used];
    };
    expect(await usedAfter(usage, { ...usage, minuteUsed: 4, dayUsed: 49 })).toEqual([0, 50]);
    expect(await usedAfter(next, usage)).toEqual([1, 51]);
    expect(await usedAfter({ ...next, minuteUsed: 3, dayUsed: 53 }, { ...next, minuteUsed: 2, dayUsed: 52 })).toEqual([
      3, 53,
    ]);
  });

  it('continues after a restart with the day’s counts, until the day is over', async () => {
    const before = await start();
    await send(before.counter, 7, noon);
    await before.close();
    const after = await start();
    expect(await dayUsed(after.counter, later(noon, SECOND))).toBe(7);
    expect(await dayUsed(after.counter, later(midnight, DAY))).toBe(0);
    await after.close();
    const nextDay = await start();
    expect(await dayUsed(nextDay.counter, later(midnight, DAY))).toBe(0);
    await nextDay.close();
  });

  it('continues after a restart with the bans, and their doubling', async () => {
    const limits = { perMinute: 1, perDay: 1_000 };
    const before = await start();
    await send(before.counter, 51, noon, limits);
    await before.close();
    const after = await start();
    const banned = await after.counter.look({ requester, limits, now: later(noon, SECOND) });
    expect(banned).toMatchObject({ outcome: 'key_banned', bannedUntil: later(noon, 5 * MINUTE) });
    const again = later(noon, HOUR);
    await send(after.counter, 51, again, limits);
    expect((await after.counter.look({ requester, limits, now: again })).bannedUntil).toBe(later(again, 10 * MINUTE));
    await after.close();
  });

  it('admits exactly the rest of the minute and the day to parallel requests after a restart', async () => {
    const before = await start();
    await send(before.counter, 7, noon);
    await before.close();
    const after = await start();
    const keys = [requester, { ...requester, keyId: newKey() }];
    const sent = Array.from({ length: 200 }, (_, index) =>
      after.counter.count({ requester: keys[index % 2] ?? requester, limits: free, now: later(noon, SECOND) }),
    );
    expect((await Promise.all(sent)).filter(({ outcome }) => outcome === 'admitted')).toHaveLength(53);
    await after.close();
  });

  it('starts without reading the stored counts, however many there are', async () => {
    await database.dataSource.transaction(async (manager) => {
      await manager.query('LOCK TABLE request_counts, key_bans IN ACCESS EXCLUSIVE MODE');
      await (await start()).close();
    });
  });

  it('does not restart the day of an account with unreadable counts', async () => {
    const before = await start();
    await send(before.counter, 7, noon);
    await before.close();
    const { counter } = startByHand();
    await allowConnections(false);
    await expect(send(counter, 1, noon)).rejects.toMatchObject({ code: 'service_unavailable' });
    await allowConnections(true);
    await send(counter, 1, noon);
    expect(await dayUsed(counter, noon)).toBe(8);
  });

  it('loses at most the counts since the last flush when it is killed', async () => {
    const killed = startByHand();
    await send(killed.counter, 7, noon);
    await killed.store.flush();
    await send(killed.counter, 2, noon);
    const next = startByHand();
    expect(await dayUsed(next.counter, noon)).toBe(7);
    await Promise.all([killed.store.close(), next.store.close()]);
  });

  it('stores its counts within a second', async () => {
    const running = await start();
    await send(running.counter, 7, noon);
    expect(running.fallbacks()).toBe(0);
    const startedAt = performance.now();
    while ((await storedDayUsed()) !== 7 && performance.now() - startedAt < 5_000) await nextTurn();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await running.close();
  });

  it('writes nothing without changes, such as after a refusal', async () => {
    const { counter, store } = startByHand();
    const limits = { perMinute: 1, perDay: 1_000 };
    await send(counter, 1, noon, limits);
    await store.flush();
    await database.dataSource.query('UPDATE request_counts SET day_used = 0');
    await counter.look({ requester, limits, now: noon });
    await send(counter, 1, noon, limits);
    await store.close();
    expect(await storedDayUsed()).toBe(0);
  });

  it('keeps the highest count of several instances on one database', async () => {
    const [one, two] = [startByHand(), startByHand()];
    await send(one.counter, 5, noon);
    await send(two.counter, 3, noon);
    await one.store.close();
    await two.store.close();
    expect(await storedDayUsed()).toBe(5);
  });

  it('does not bring yesterday’s count back through an instance whose clock is behind', async () => {
    const [ahead, behind] = [startByHand(), startByHand()];
    await send(ahead.counter, 2, later(midnight, DAY));
    await send(behind.counter, 9, later(midnight, DAY - 1));
    await ahead.store.close();
    await behind.store.close();
    expect(await storedDayUsed()).toBe(2);
  });

  it('allows several instances to write at once', async () => {
    const requesters = await Promise.all(Array.from({ length: 20 }, () => storedRequester(database)));
    const events: string[] = [];
    const instances = [1, 2, 3, 4].map(() => startByHand((event) => events.push(event)));
    for (let round = 0; round < 10; round++) {
      for (const [index, { counter }] of instances.entries()) {
        // Each writes in another order.
        const inOrder = [...requesters.slice(index * 5), ...requesters.slice(0, index * 5)].reverse();
        await Promise.all(inOrder.map((each) => counter.count({ requester: each, limits: free, now: noon })));
      }
      await Promise.all(instances.map(({ store }) => store.flush()));
    }
    await Promise.all(instances.map(({ store }) => store.close()));
    expect(events).toEqual([]);
  });

  it('continues to decide while the database is down, and stores the counts when it is back', async () => {
    const events: string[] = [];
    const { counter, store } = startByHand((event) => events.push(event));
    await send(counter, 3, noon);
    await allowConnections(false);
    await store.flush();
    await send(counter, 2, noon);
    await store.flush();
    expect(await dayUsed(counter, noon)).toBe(5);
    expect(events).toEqual([expect.stringContaining("can't be saved")]);
    await allowConnections(true);
    await store.close();
    expect(await storedDayUsed()).toBe(5);
    expect(events.at(-1)).toBe('Request counts are saved again.');
  });

  it('stores the other counts even if an account was deleted', async () => {
    const events: string[] = [];
    const { counter, store } = startByHand((event) => events.push(event));
    await send(counter, 3, noon);
    await counter.count({ requester: newRequester(), limits: free, now: noon });
    await store.close();
    expect([await storedDayUsed(), events]).toEqual([3, []]);
  });

  it('keeps addresses for at most two minutes, and accounts for at most two days', async () => {
    const counter = startByHand().counter;
    for (let second = 0; second < 600; second++) {
      const limits = { perMinute: 60, perDay: Infinity };
      await counter.count({ requester: { address: randomUUID() }, limits, now: later(noon, second * SECOND) });
    }
    expect(counter.size).toBe(120);
    for (let day = 1; day < 30; day++) {
      for (let accounts = 0; accounts < 10; accounts++) {
        await counter.count({ requester: newRequester(), limits: free, now: later(noon, day * DAY) });
      }
    }
    expect(counter.size).toBe(120 + 20);
  });

  it('counts the keys of an account together, however long it has known only one of them', async () => {
    const counter = startByHand().counter;
    for (let day = 0; day < 5; day++) {
      const now = later(noon, day * DAY);
      // Others make it forget requesters that were not counted for long.
      await counter.count({ requester: newRequester(), limits: free, now });
      await counter.count({ requester, limits: free, now });
    }
    const another = { ...requester, keyId: newRequester().keyId };
    expect((await counter.count({ requester: another, limits: free, now: later(noon, 4 * DAY) })).day.used).toBe(2);
  });

  it('drops entries even after its clock was far ahead and was corrected', async () => {
    const counter = startByHand().counter;
    const times = [later(noon, 300 * DAY), ...Array.from({ length: 600 }, (_, second) => later(noon, second * SECOND))];
    for (const now of times) {
      const limits = { perMinute: 60, perDay: Infinity };
      await counter.count({ requester: { address: randomUUID() }, limits, now });
    }
    expect(counter.size).toBeLessThanOrEqual(120);
  });

  async function allowConnections(isAllowed: boolean): Promise<void> {
    const name = new URL(database.url).pathname.slice(1);
    const client = new pg.Client(database.url.replace(`/${name}`, '/postgres'));
    await client.connect();
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${String(isAllowed)}`);
    if (!isAllowed) {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    }
    await client.end();
  }
});
