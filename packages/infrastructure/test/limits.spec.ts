import { randomUUID } from 'node:crypto';
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
  type RequestCounter,
  SECOND,
  startOf,
} from '@adoption-store/domain';
import { ask, connectTo } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { InProcessRequestCounter } from '../src/limits/in-process-request-counter.js';
import { PostgresCountsStore } from '../src/limits/postgres-counts-store.js';
import { type Database, openDatabase } from './databases.js';
import {
  counterSuites,
  free,
  midnight,
  newKey,
  newRequester,
  noon,
  openOnDatabase,
  storedRequester,
} from './limits.counters.js';

counterSuites('in this process, kept in PostgreSQL', (policy) => openOnDatabase(policy));

describe('a request counter in this process', () => {
  let database: Database;
  let requester: KeyRequester;
  let events: string[];
  const stores: PostgresCountsStore[] = [];
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    events = [];
    requester = await storedRequester(database);
  });
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });
  afterAll(() => database.close());

  function start() {
    const store = new PostgresCountsStore(database.dataSource, (event) => events.push(event));
    stores.push(store);
    return { counter: new InProcessRequestCounter(DEFAULT_BAN_POLICY, store), store };
  }
  const send = async (counter: RequestCounter, times: number, now: Instant, limits = free) => {
    for (let sent = 0; sent < times; sent++) await counter.count({ requester, limits, now });
  };
  const dayUsed = async (counter: RequestCounter, now: Instant) =>
    (await counter.peek({ requester, limits: free, now })).day.used;
  const stored = () => start().store.read(requester);
  const storedDayUsed = async () => (await stored()).usage.dayUsed;

  it('continues after a restart with the day’s counts, until the day is over, and with bans and their doubling', async () => {
    const limits = { perMinute: 7, perDay: 1_000 };
    const before = start();
    await send(before.counter, 7 + 50, noon, limits);
    await before.store.close();
    const { counter } = start();
    const soon = later(noon, SECOND);
    expect(await counter.peek({ requester, limits, now: soon })).toMatchObject({
      outcome: 'key_banned',
      minute: { used: 7 },
      day: { used: 7 },
      bannedUntil: later(noon, 5 * MINUTE),
    });
    expect(await counter.bansOf([requester], soon)).toEqual(new Map([[requester.keyId, later(noon, 5 * MINUTE)]]));
    const again = later(noon, HOUR);
    await send(counter, 7 + 50, again, limits);
    expect(await counter.bansOf([requester], again)).toEqual(new Map([[requester.keyId, later(again, 10 * MINUTE)]]));
    expect(await dayUsed(start().counter, later(midnight, DAY))).toBe(0);
  });

  it('admits exactly the rest of the minute and the day to parallel requests after a restart', async () => {
    const before = start();
    await send(before.counter, 7, noon);
    await before.store.close();
    const { counter } = start();
    const keys = [requester, { ...requester, keyId: newKey() }];
    const sent = Array.from({ length: 200 }, async (_, index) =>
      counter.count({ requester: keys[index % 2] ?? requester, limits: free, now: later(noon, SECOND) }),
    );
    expect((await Promise.all(sent)).filter(({ outcome }) => outcome === 'admitted')).toHaveLength(53);
  });

  it('stores nothing without changes, such as after a refusal', async () => {
    const { counter, store } = start();
    const limits = { perMinute: 1, perDay: 1_000 };
    await send(counter, 1, noon, limits);
    await store.flush();
    expect(await storedDayUsed()).toBe(1);
    await database.dataSource.query('UPDATE request_counts SET day_used = 0');
    await counter.peek({ requester, limits, now: noon });
    await send(counter, 1, noon, limits);
    await store.close();
    expect(await storedDayUsed()).toBe(0);
    expect(await ask(database.url, `SELECT FROM key_bans WHERE key_id = ${requester.keyId}`)).toEqual([]);
  });

  it('decides while the database is down, never begins a day anew, and stores the counts when it is back', async () => {
    const other = { ...requester, ...(await storedRequester(database)) };
    const before = start();
    await send(before.counter, 3, noon);
    await before.counter.count({ requester: other, limits: free, now: noon });
    await before.store.flush();
    const { counter } = start();
    await allowConnections(false);
    await expect(send(counter, 1, noon)).rejects.toMatchObject({ code: 'service_unavailable' });
    await send(before.counter, 2, noon);
    await before.store.flush();
    // Newer than the count that could not be stored.
    await send(before.counter, 1, noon);
    await before.store.flush();
    expect(events).toEqual([expect.stringContaining("Request counts can't be saved")]);
    await allowConnections(true);
    await before.store.flush();
    expect([await storedDayUsed(), events.at(-1)]).toEqual([6, 'Request counts are saved again.']);
    await send(counter, 1, noon);
    expect(await dayUsed(counter, noon)).toBe(7);
  });

  it('stores the other counts even if an account was deleted', async () => {
    const { counter, store } = start();
    await send(counter, 3, noon);
    await counter.count({ requester: newRequester(), limits: free, now: noon });
    await store.close();
    expect([await storedDayUsed(), events]).toEqual([3, []]);
  });

  it('keeps addresses for two minutes and accounts for two days at most, wherever its clock was', async () => {
    const { counter } = start();
    const limits = { perMinute: 60, perDay: Infinity };
    const seconds = Array.from({ length: 600 }, (_, second) => later(noon, second * SECOND));
    for (const now of [later(noon, 300 * DAY), ...seconds]) {
      await counter.count({ requester: { address: randomUUID() }, limits, now });
    }
    expect(counter.size).toBe(120);
    for (let day = 1; day < 30; day++) {
      for (let accounts = 0; accounts < 10; accounts++) {
        await counter.count({ requester: newRequester(), limits: free, now: later(noon, day * DAY) });
      }
    }
    expect(counter.size).toBe(120 + 20);
  });

  it('keeps the day’s counts while a clock that was days ahead is corrected around midnight', async () => {
    const { counter } = start();
    await counter.count({ requester: newRequester(), limits: free, now: later(midnight, 2 * DAY) });
    await counter.count({ requester, limits: free, now: later(midnight, DAY) });
    for (const back of [-MINUTE, SECOND]) {
      await counter.count({ requester: newRequester(), limits: free, now: later(midnight, DAY + back) });
    }
    // Nothing is stored yet, unless this takes half a second.
    expect(await dayUsed(counter, later(midnight, DAY + SECOND))).toBe(1);
  });

  it('counts the keys of an account together, however long it has known only one of them', async () => {
    const { counter } = start();
    for (let day = 0; day < 5; day++) {
      const now = later(noon, day * DAY);
      // Other requesters make it forget those that were not counted for long.
      await counter.count({ requester: newRequester(), limits: free, now });
      await counter.count({ requester, limits: free, now });
    }
    const another = { ...requester, keyId: newKey() };
    expect((await counter.count({ requester: another, limits: free, now: later(noon, 4 * DAY) })).day.used).toBe(2);
  });

  describe('that shares its database with others', () => {
    // The real time, because PostgreSQL's clock decides which instance's clock is wrong.
    const now = instant(Date.now());
    const usage = { dayStart: startOf(DAY, now), dayUsed: 7, minuteStart: startOf(MINUTE, now), minuteUsed: 3 };
    const ban = (bannedAt: Instant) => ({ ...NO_REFUSALS, bannedAt, bannedUntil: later(bannedAt, HOUR) });
    /** Each write comes from another instance. */
    const write = async (changes: object, refusals = NO_REFUSALS) => {
      const { store } = start();
      store.store(requester, { usage: { ...NO_USAGE, ...changes }, isChanged: false }, refusals);
      await store.close();
    };
    /** Rows of an instance whose clock is ahead. */
    const writeAhead = async (ahead: number) => {
      const [from, until] = [later(now, ahead), later(now, ahead + HOUR)].map((time) => new Date(time));
      const { dataSource } = database;
      await dataSource.query('INSERT INTO request_counts VALUES ($1, $2, 9, $2, 9)', [requester.accountId, from]);
      await dataSource.query('INSERT INTO key_bans VALUES ($1, $2, $3)', [requester.keyId, from, until]);
    };

    it('lowers no count of theirs, however many write the same accounts at once, in whatever order', async () => {
      const requesters = await Promise.all(Array.from({ length: 8 }, () => storedRequester(database)));
      const instances = [1, 2, 3, 4].map(() => start().store);
      for (let round = 1; round <= 4; round++) {
        for (const [index, store] of instances.entries()) {
          const inOrder = [...requesters.slice(index * 2), ...requesters.slice(0, index * 2)].reverse();
          for (const each of inOrder) {
            const dayUsed = index === round % 4 ? 10 * round : round;
            store.store(each, { usage: { ...usage, dayUsed }, isChanged: false }, ban(later(now, dayUsed - 1_000)));
          }
        }
        await Promise.all(instances.map((store) => store.flush()));
        const kept = await start().store.readAll(requesters);
        expect(new Set(kept.map((each) => each.usage.dayUsed))).toEqual(new Set([10 * round]));
        expect(new Set(kept.map((each) => each.refusals.bannedAt))).toEqual(new Set([later(now, 10 * round - 1_000)]));
      }
      expect(events).toEqual([]);
    });

    it('replaces what lies ahead of the database’s clock, and stores nothing that does', async () => {
      await writeAhead(2 * DAY);
      await write(
        { dayStart: later(now, DAY), dayUsed: 1, minuteStart: later(now, DAY), minuteUsed: 1 },
        ban(later(now, HOUR)),
      );
      await write(usage, ban(now));
      expect(await stored()).toEqual({ usage, refusals: ban(now) });
      await write({ ...usage, dayStart: later(now, DAY), dayUsed: 1 }, ban(later(now, HOUR)));
      expect(await stored()).toEqual({ usage, refusals: ban(now) });
      requester = await storedRequester(database);
      await write({}, ban(later(now, HOUR)));
      expect((await stored()).refusals.bannedAt).toBe(0);
      expect(events).toEqual([]);
    });
  });

  async function allowConnections(isAllowed: boolean): Promise<void> {
    const name = new URL(database.url).pathname.slice(1);
    const client = await connectTo(database.url.replace(`/${name}`, '/postgres'));
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${String(isAllowed)}`);
    if (!isAllowed) {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    }
    await client.end();
  }
});
