import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  DEFAULT_BAN_POLICY,
  HOUR,
  type Instant,
  instant,
  later,
  limitsOf,
  MINUTE,
  type PlanLimits,
  type RequestCounter,
  type Requester,
  retryAfter,
  SECOND,
  shownWindow,
  type Verdict,
} from '@adoption-store/domain';
import { InMemoryRequestCounter, ManualClock } from '@adoption-store/domain/testing';
import {
  InProcessRequestCounter,
  migrate,
  openDataSource,
  openRequestCounter,
  type OpenRequestCounter,
  QuotaPersistence,
  RedisRequestCounter,
  TypeOrmAccountRepository,
  TypeOrmApiKeyRepository,
} from '@adoption-store/infrastructure/testing';
import fc from 'fast-check';
import pg from 'pg';
import { createDatabase } from '../support/database.js';
import { askRedis, redisFor, redisServerFor, type RedisServer } from '../support/redis.js';

const DAY = 24 * HOUR;
const midnight = instant(Date.UTC(2026, 0, 1));
const noon = later(midnight, 12 * HOUR);
const free = limitsOf({ name: 'free' });
/** Long enough for a loaded machine: what these suites prove isn't how fast Redis is, but the last one. */
const PATIENT = 20_000;

interface Opened {
  readonly counter: RequestCounter;
  readonly close: () => Promise<void>;
}

const newId = () => randomBytes(7).readUIntBE(1, 6);
const newAccount = () => BigInt(newId()) as AccountId;
const newKey = () => BigInt(newId()) as ApiKeyId;
const newRequester = () => ({ accountId: newAccount(), keyId: newKey() });

async function openDatabase() {
  const database = await createDatabase();
  await migrate({ connectionString: database.url });
  const dataSource = await openDataSource({ connectionString: database.url, max: 5 });
  return {
    url: database.url,
    dataSource,
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}
type Database = Awaited<ReturnType<typeof openDatabase>>;

async function openOnDatabase(policy: BanPolicy, redisUrl?: string): Promise<Opened> {
  const { dataSource, close } = await openDatabase();
  const clock = new ManualClock(midnight);
  const onEvent = (message: string) => {
    throw new Error(message);
  };
  const opened = await openRequestCounter({ redisUrl, redisTimeout: PATIENT, dataSource, policy, clock, onEvent });
  return {
    counter: opened.counter,
    close: async () => {
      await opened.close();
      await close();
    },
  };
}

const openRedis = redisFor('request counters on Redis');
type Adapter = readonly [name: string, open: (policy: BanPolicy) => Promise<Opened>];
const everyAdapter: readonly Adapter[] = [
  ['in memory', async (policy) => ({ counter: new InMemoryRequestCounter(policy), close: () => Promise.resolve() })],
  ['in this process, kept in PostgreSQL', (policy) => openOnDatabase(policy)],
  ...(openRedis === undefined
    ? []
    : ([
        [
          'Redis',
          async (policy) => {
            const redis = await openRedis();
            const counter = await RedisRequestCounter.connect(redis.url, policy, PATIENT);
            return { counter, close: () => (counter.close(), redis.close()) };
          },
        ],
        [
          'Redis, with a fallback',
          async (policy) => {
            const redis = await openRedis();
            const { counter, close } = await openOnDatabase(policy, redis.url);
            return { counter, close: () => close().then(() => redis.close()) };
          },
        ],
      ] satisfies Adapter[])),
];

describe.each(everyAdapter)('a request counter (%s)', (_name, open) => {
  let opened: Opened;
  let requester: Requester & { accountId: AccountId };
  beforeAll(async () => {
    opened = await open(DEFAULT_BAN_POLICY);
  });
  beforeEach(() => {
    requester = newRequester();
  });
  afterAll(() => opened.close());

  const count = (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
    opened.counter.count({ requester, limits: free, now, ...changes });
  const look = (now: Instant, changes: Partial<CountedRequest> = {}): Promise<Verdict> =>
    opened.counter.look({ requester, limits: free, now, ...changes });
  const countTimes = (times: number, now: Instant, changes?: Partial<CountedRequest>): Promise<Verdict[]> =>
    Promise.all(Array.from({ length: times }, () => count(now, changes)));
  const admitted = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome === 'admitted').length;
  const once: PlanLimits = { perMinute: 1, perDay: 1_000_000 };
  /** Uses up the minute, and is refused 50 times in it. */
  const ban = async (now: Instant): Promise<Verdict> => {
    await countTimes(51, now, { limits: once });
    return look(now, { limits: once });
  };
  const minutesBanned = ({ bannedUntil }: Verdict, now: Instant) =>
    bannedUntil === undefined ? 0 : (bannedUntil - now) / MINUTE;

  it('admits exactly the limit of 5,000 parallel requests', async () => {
    const limits = { perMinute: 1_234, perDay: 100_000 };
    expect(admitted(await countTimes(5_000, noon, { limits }))).toBe(1_234);
  });

  it('admits all of the parallel requests that fit, and min(N, L) of N against L left', async () => {
    expect(admitted(await countTimes(40, noon))).toBe(40);
    expect(admitted(await countTimes(15, noon))).toBe(15);
    expect(admitted(await countTimes(15, noon))).toBe(5);
    expect((await look(noon)).minute.used).toBe(60);
  });

  it('counts an admitted request in both windows, and a refused one in neither', async () => {
    const limits = { perMinute: 2, perDay: 3 };
    await countTimes(5, noon, { limits });
    expect(await look(noon, { limits })).toMatchObject({ minute: { used: 2 }, day: { used: 2 } });
    const next = later(noon, MINUTE);
    await countTimes(5, next, { limits });
    expect(await look(next, { limits })).toMatchObject({ minute: { used: 1 }, day: { used: 3 } });
  });

  it('refuses for the rest of the day once the day is used up', async () => {
    const limits = { perMinute: 2, perDay: 3 };
    await countTimes(2, noon, { limits });
    await count(later(noon, MINUTE), { limits });
    for (const now of [later(noon, MINUTE), later(noon, 2 * MINUTE), later(midnight, DAY - 1)]) {
      expect(await count(now, { limits })).toMatchObject({ outcome: 'daily_quota_exceeded', day: { used: 3 } });
    }
  });

  it('starts a minute anew with its first millisecond, not before', async () => {
    const last = later(noon, MINUTE - 1);
    expect(admitted(await countTimes(61, noon))).toBe(60);
    expect((await count(last)).outcome).toBe('rate_limited');
    expect(await count(later(last, 1))).toMatchObject({
      outcome: 'admitted',
      minute: { used: 1, resetsAt: later(noon, 2 * MINUTE) },
      day: { used: 61 },
    });
  });

  it('starts a day anew with its first millisecond, not before', async () => {
    const limits = { perMinute: 60, perDay: 2 };
    const last = later(midnight, DAY - 1);
    await countTimes(2, noon, { limits });
    expect((await count(last, { limits })).outcome).toBe('daily_quota_exceeded');
    expect(await count(later(last, 1), { limits })).toMatchObject({
      outcome: 'admitted',
      minute: { used: 1 },
      day: { used: 1, resetsAt: later(midnight, 2 * DAY) },
    });
  });

  it('tells with every decision what clients see: limit, used, reset and when to come back', async () => {
    const now = later(noon, 12_345);
    const first = await count(now);
    expect(first).toEqual({
      outcome: 'admitted',
      minute: { limit: 60, used: 1, resetsAt: later(noon, MINUTE) },
      day: { limit: 1_000, used: 1, resetsAt: later(midnight, DAY) },
      bannedUntil: undefined,
    });
    const verdicts = await countTimes(59, now);
    expect(verdicts.map(({ minute }) => minute.used).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 59 }, (_, index) => index + 2),
    );
    const refused = await count(now);
    expect(refused).toMatchObject({ outcome: 'rate_limited', minute: { used: 60 }, bannedUntil: undefined });
    expect(shownWindow(refused)).toEqual(refused.minute);
    expect(retryAfter(refused, now)).toBe(48);
  });

  it('bans a key for 5 minutes with its 50th refusal in a minute', async () => {
    const verdicts = await countTimes(51, later(noon, SECOND), { limits: once });
    expect(verdicts.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(49);
    const [banning] = verdicts.filter(({ outcome }) => outcome === 'key_banned');
    expect(banning?.bannedUntil).toBe(later(noon, SECOND + 5 * MINUTE));
  });

  it('does not ban for 49 refusals and more in the next minute', async () => {
    await countTimes(1 + 49, noon, { limits: once });
    const verdicts = await countTimes(1 + 49, later(noon, MINUTE), { limits: once });
    expect(verdicts.map(({ outcome }) => outcome)).not.toContain('key_banned');
  });

  it('bans for refusals of the day as for those of the minute', async () => {
    const limits = { perMinute: 60, perDay: 1 };
    const verdicts = await countTimes(51, noon, { limits });
    expect(verdicts.at(-1)).toMatchObject({ outcome: 'key_banned', day: { used: 1 } });
  });

  it('lets a key in again with the millisecond in which its ban ends', async () => {
    await ban(noon);
    expect((await count(later(noon, 5 * MINUTE - 1), { limits: once })).outcome).toBe('key_banned');
    expect(await count(later(noon, 5 * MINUTE), { limits: once })).toMatchObject({
      outcome: 'admitted',
      bannedUntil: undefined,
    });
  });

  it('doubles each further ban within a day up to an hour, and begins at 5 minutes after a day', async () => {
    const lengths: number[] = [];
    let now = midnight;
    for (let bans = 0; bans < 6; bans++) {
      const banned = await ban(now);
      lengths.push(minutesBanned(banned, now));
      now = banned.bannedUntil ?? now;
    }
    expect(lengths).toEqual([5, 10, 20, 40, 60, 60]);
    const lastBan = later(now, -HOUR);
    const almost = later(lastBan, DAY - MINUTE);
    expect(minutesBanned(await ban(almost), almost)).toBe(60);
    const dayAfter = later(almost, DAY);
    expect(minutesBanned(await ban(dayAfter), dayAfter)).toBe(5);
  });

  it('does not lengthen a ban for requests during it', async () => {
    const { bannedUntil } = await ban(noon);
    const verdicts = await countTimes(200, later(noon, 3 * MINUTE), { limits: once });
    expect(new Set(verdicts.map((verdict) => verdict.bannedUntil))).toEqual(new Set([bannedUntil]));
    expect((await count(later(noon, 5 * MINUTE), { limits: once })).outcome).toBe('admitted');
  });

  it('bans one key of an account, not the others', async () => {
    await ban(noon);
    const other = { requester: { ...requester, keyId: newKey() }, limits: once };
    const next = later(noon, MINUTE);
    expect((await count(next, other)).outcome).toBe('admitted');
    expect((await count(next, { limits: once })).outcome).toBe('key_banned');
  });

  it('gives the keys of an account one quota, and other accounts their own', async () => {
    const limits = { perMinute: 10, perDay: 1_000 };
    const keys = Array.from({ length: 20 }, () => ({ requester: { ...requester, keyId: newKey() }, limits }));
    expect(admitted(await Promise.all(keys.map((key) => count(noon, key))))).toBe(10);
    expect((await count(noon, { requester: newRequester(), limits })).outcome).toBe('admitted');
  });

  it('obeys a changed plan at once, with the counts it has', async () => {
    const pro = limitsOf({ name: 'pro' });
    await countTimes(70, noon, { limits: pro });
    expect(await count(noon)).toMatchObject({ outcome: 'rate_limited', minute: { limit: 60, used: 70 } });
    expect(await count(noon, { limits: pro })).toMatchObject({ outcome: 'admitted', minute: { limit: 300, used: 71 } });
  });

  it('counts an address by the minute alone and never bans it', async () => {
    const address = { requester: { address: randomUUID() }, limits: { perMinute: 5, perDay: Infinity } };
    const verdicts = await countTimes(300, noon, address);
    expect(admitted(verdicts)).toBe(5);
    expect(verdicts.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(295);
    const refused = await count(later(noon, 1), address);
    expect(refused).toMatchObject({ outcome: 'rate_limited', bannedUntil: undefined });
    expect(shownWindow(refused)).toEqual({ limit: 5, used: 5, resetsAt: later(noon, MINUTE) });
    expect(admitted(await countTimes(10, later(noon, MINUTE), address))).toBe(5);
  });

  it('keeps its windows where a clock lags behind', async () => {
    const limits = { perMinute: 2, perDay: 5 };
    const nextDay = later(midnight, DAY);
    await countTimes(2, nextDay, { limits });
    expect(await count(later(nextDay, -500), { limits })).toMatchObject({
      outcome: 'rate_limited',
      minute: { used: 2, resetsAt: later(nextDay, MINUTE) },
      day: { used: 2, resetsAt: later(nextDay, DAY) },
    });
  });

  it('spends nothing when it is only looked at', async () => {
    const looks = await Promise.all(Array.from({ length: 200 }, () => look(noon, { limits: once })));
    expect(new Set(looks.map(({ outcome }) => outcome))).toEqual(new Set(['admitted']));
    expect(await count(noon, { limits: once })).toMatchObject({ outcome: 'admitted', minute: { used: 1 } });
    await Promise.all(Array.from({ length: 200 }, () => look(noon, { limits: once })));
    expect(await look(noon, { limits: once })).toMatchObject({ outcome: 'rate_limited', bannedUntil: undefined });
  });
});

describe.each(everyAdapter.slice(1))('any history of requests (%s)', (_name, open) => {
  const policy: BanPolicy = { refusals: 3, firstBan: 5 * MINUTE, longestBan: 15 * MINUTE };
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(policy);
  });
  afterAll(() => opened.close());

  const steps = fc.array(
    fc.record({
      // Now and then a clock that lags.
      passes: fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 20 * SECOND }) },
        { weight: 2, arbitrary: fc.integer({ min: -30 * SECOND, max: 0 }) },
        { weight: 2, arbitrary: fc.integer({ min: 0, max: 20 * MINUTE }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 26 * HOUR }) },
      ),
      source: fc.constantFrom('address', 'one key', 'same account', 'other account'),
      limits: fc.record({ perMinute: fc.integer({ min: 1, max: 3 }), perDay: fc.integer({ min: 1, max: 12 }) }),
      isLook: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
    { minLength: 20, maxLength: 150 },
  );

  it('is decided as the domain decides it', async () => {
    const property = fc.asyncProperty(steps, async (history) => {
      const model = new InMemoryRequestCounter(policy);
      const [one, other, address] = [newRequester(), newRequester(), { address: randomUUID() }];
      const sources = {
        address,
        'one key': one,
        'same account': { ...one, keyId: newKey() },
        'other account': other,
      };
      let now = noon;
      for (const { passes, source, limits, isLook } of history) {
        now = later(now, passes);
        const perDay = source === 'address' ? Infinity : limits.perDay;
        const request = { requester: sources[source], limits: { ...limits, perDay }, now };
        const method = isLook ? 'look' : 'count';
        const [actual, expected] = [await opened.counter[method](request), await model[method](request)];
        // Of an address the day doesn't count.
        if (source === 'address') expect(actual).toMatchObject({ outcome: expected.outcome, minute: expected.minute });
        else expect(actual).toEqual(expected);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

describe('a request counter in this process', () => {
  const policy = DEFAULT_BAN_POLICY;
  let database: Database;
  let requester: { accountId: AccountId; keyId: ApiKeyId };
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    requester = await storedRequester();
  });
  afterAll(() => database.close());

  /** Only what belongs to an account and a key that are there is kept. */
  async function storedRequester() {
    const { dataSource } = database;
    const account = await new TypeOrmAccountRepository(dataSource).open({
      email: `${randomUUID()}@example.com`,
      plan: { name: 'free' },
      createdAt: noon,
    });
    const key = await new TypeOrmApiKeyRepository(dataSource).add({
      accountId: account.id,
      hash: randomBytes(32).toString('hex'),
      ending: 'wxyz',
      name: undefined,
      createdAt: noon,
      expiresAt: undefined,
    });
    return { accountId: account.id, keyId: key.id };
  }

  const start = (now: Instant, onEvent: (message: string) => void = () => undefined): Promise<OpenRequestCounter> =>
    openRequestCounter({ dataSource: database.dataSource, policy, clock: new ManualClock(now), onEvent });
  async function startByHand(now: Instant, onEvent: (message: string) => void = () => undefined) {
    const counter = new InProcessRequestCounter(policy);
    const persistence = new QuotaPersistence(database.dataSource, counter, onEvent);
    await persistence.open(new ManualClock(now));
    return { counter, persistence };
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

  it('goes on after a restart with the day’s counts, until the day is over', async () => {
    const before = await start(noon);
    await send(before.counter, 7, noon);
    await before.close();
    const after = await start(later(noon, SECOND));
    expect(await dayUsed(after.counter, later(noon, SECOND))).toBe(7);
    expect(await dayUsed(after.counter, later(midnight, DAY))).toBe(0);
    await after.close();
    const nextDay = await start(later(midnight, DAY));
    expect(await dayUsed(nextDay.counter, later(midnight, DAY))).toBe(0);
    await nextDay.close();
  });

  it('goes on after a restart with the bans, and their doubling', async () => {
    const limits = { perMinute: 1, perDay: 1_000 };
    const before = await start(noon);
    await send(before.counter, 51, noon, limits);
    await before.close();
    const after = await start(later(noon, SECOND));
    const banned = await after.counter.look({ requester, limits, now: later(noon, SECOND) });
    expect(banned).toMatchObject({ outcome: 'key_banned', bannedUntil: later(noon, 5 * MINUTE) });
    const again = later(noon, HOUR);
    await send(after.counter, 51, again, limits);
    expect((await after.counter.look({ requester, limits, now: again })).bannedUntil).toBe(later(again, 10 * MINUTE));
    await after.close();
  });

  it('forgets at the most what was counted since the last flush when it is killed', async () => {
    const killed = await startByHand(noon);
    await send(killed.counter, 7, noon);
    await killed.persistence.flush();
    await send(killed.counter, 2, noon);
    const next = await startByHand(noon);
    expect(await dayUsed(next.counter, noon)).toBe(7);
    await Promise.all([killed.persistence.close(), next.persistence.close()]);
  });

  it('keeps what it counts within a second', async () => {
    const running = await start(noon);
    await send(running.counter, 7, noon);
    const startedAt = performance.now();
    while ((await storedDayUsed()) !== 7 && performance.now() - startedAt < 5_000) await nextTurn();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await running.close();
  });

  it('writes nothing where nothing has changed', async () => {
    const { counter, persistence } = await startByHand(noon);
    await send(counter, 1, noon);
    await persistence.flush();
    await database.dataSource.query('UPDATE request_counts SET day_used = 500');
    await counter.look({ requester, limits: free, now: noon });
    await persistence.close();
    expect(await storedDayUsed()).toBe(500);
  });

  it('keeps the highest count of several instances on one database', async () => {
    const [one, two] = [await startByHand(noon), await startByHand(noon)];
    await send(one.counter, 5, noon);
    await send(two.counter, 3, noon);
    await one.persistence.close();
    await two.persistence.close();
    expect(await storedDayUsed()).toBe(5);
  });

  it('does not let an instance whose clock lags bring yesterday’s count back', async () => {
    const [ahead, behind] = [await startByHand(noon), await startByHand(noon)];
    await send(ahead.counter, 2, later(midnight, DAY));
    await send(behind.counter, 9, later(midnight, DAY - 1));
    await ahead.persistence.close();
    await behind.persistence.close();
    expect(await storedDayUsed()).toBe(2);
  });

  it('is not in the way of several instances that write at once', async () => {
    const requesters = await Promise.all(Array.from({ length: 20 }, storedRequester));
    const events: string[] = [];
    const instances = await Promise.all([1, 2, 3, 4].map(() => startByHand(noon, (event) => events.push(event))));
    for (let round = 0; round < 10; round++) {
      for (const [index, { counter }] of instances.entries()) {
        // Each in an order of its own.
        for (const each of [...requesters.slice(index * 5), ...requesters.slice(0, index * 5)].reverse()) {
          await counter.count({ requester: each, limits: free, now: noon });
        }
      }
      await Promise.all(instances.map(({ persistence }) => persistence.flush()));
    }
    await Promise.all(instances.map(({ persistence }) => persistence.close()));
    expect(events).toEqual([]);
  });

  it('decides on while the database is away, and keeps the counts when it is back', async () => {
    const events: string[] = [];
    const { counter, persistence } = await startByHand(noon, (event) => events.push(event));
    await send(counter, 3, noon);
    await allowConnections(false);
    await persistence.flush();
    await send(counter, 2, noon);
    await persistence.flush();
    expect(await dayUsed(counter, noon)).toBe(5);
    expect(events).toEqual([expect.stringContaining("can't be saved")]);
    await allowConnections(true);
    await persistence.close();
    expect(await storedDayUsed()).toBe(5);
    expect(events.at(-1)).toBe('Request counts are saved again.');
  });

  it('keeps the others’ counts though an account is gone', async () => {
    const events: string[] = [];
    const { counter, persistence } = await startByHand(noon, (event) => events.push(event));
    await send(counter, 3, noon);
    await counter.count({ requester: newRequester(), limits: free, now: noon });
    await persistence.close();
    expect([await storedDayUsed(), events]).toEqual([3, []]);
  });

  it('holds addresses for two minutes and accounts for two days at the most', async () => {
    const counter = new InProcessRequestCounter(policy);
    for (let second = 0; second < 600; second++) {
      const limits = { perMinute: 60, perDay: Infinity };
      await counter.count({ requester: { address: randomUUID() }, limits, now: later(noon, second * SECOND) });
    }
    expect(counter.size).toBeLessThanOrEqual(120);
    for (let day = 1; day < 30; day++) {
      for (let accounts = 0; accounts < 10; accounts++) {
        await counter.count({ requester: newRequester(), limits: free, now: later(noon, day * DAY) });
      }
    }
    expect(counter.size).toBeLessThanOrEqual(120 + 20);
  });

  it('forgets also after its clock was far ahead and has been set right', async () => {
    const counter = new InProcessRequestCounter(policy);
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

const openServer = redisServerFor('what happens when Redis is lost');
(openServer === undefined ? describe.skip : describe)('a request counter on Redis', () => {
  const policy = DEFAULT_BAN_POLICY;
  let database: Database;
  let redis: RedisServer;
  let events: string[];
  let requester: { accountId: AccountId; keyId: ApiKeyId };
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    if (openServer === undefined) throw new Error('skipped above');
    redis = await openServer();
    events = [];
    requester = newRequester();
    closing.push(() => redis.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(() => database.close());

  async function open(redisTimeout?: number): Promise<OpenRequestCounter> {
    const opened = await openRequestCounter({
      redisUrl: redis.url,
      redisTimeout,
      dataSource: database.dataSource,
      policy,
      clock: new ManualClock(noon),
      onEvent: (event) => events.push(event),
    });
    closing.push(() => opened.close());
    return opened;
  }
  async function openShared(): Promise<RedisRequestCounter> {
    const counter = await RedisRequestCounter.connect(redis.url, policy, PATIENT);
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
      instances.flatMap((instance) => Array.from({ length: 1_250 }, () => instance.count(request({ limits })))),
    );
    expect(verdicts.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(777);
  });

  it('writes keys that expire by themselves, soon after their windows and bans', async () => {
    const counter = await openShared();
    const limits = { perMinute: 1, perDay: 1_000 };
    const account = `quota:{account:${requester.accountId}}`;
    const ttl = async (key: string) => Number(await askRedis(redis.url, `PTTL ${key}`));
    await Promise.all(Array.from({ length: 2 }, () => counter.count(request({ limits }))));
    expect(Math.abs((await ttl(account)) - (12 * HOUR + MINUTE))).toBeLessThan(10 * SECOND);
    expect(Math.abs((await ttl(`${account}:key:${requester.keyId}`)) - 2 * MINUTE)).toBeLessThan(10 * SECOND);
    await Promise.all(Array.from({ length: 49 }, () => counter.count(request({ limits }))));
    expect(Math.abs((await ttl(`${account}:key:${requester.keyId}`)) - (DAY + MINUTE))).toBeLessThan(10 * SECOND);
    await counter.count(request({ requester: { address: '::1' }, limits: { perMinute: 60, perDay: Infinity } }));
    expect(Math.abs((await ttl('quota:{address:::1}')) - 2 * MINUTE)).toBeLessThan(10 * SECOND);
    await counter.probe();
    expect(await ttl('quota:{probe}')).toBeGreaterThan(0);
  });

  it('writes nothing when it is looked at', async () => {
    const counter = await openShared();
    await counter.look(request());
    expect(await askRedis(redis.url, 'DBSIZE')).toBe('0');
  });

  it('decides in this process once Redis is killed, from where Redis stood, and returns by itself', async () => {
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

  it('decides in this process once Redis is frozen, waits for it but once, and returns by itself', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    redis.freeze();
    const firstTook = await timed(() => Promise.all(Array.from({ length: 20 }, () => counter.count(request()))));
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

  it('decides in this process while Redis can be reached but refuses to write', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    await askRedis(redis.url, 'REPLICAOF 127.0.0.1 1');
    expect((await counter.count(request())).minute.used).toBe(2);
    // Often enough for several attempts to come back.
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect((await counter.count(request())).minute.used).toBe(3);
    expect([fallbacks(), events]).toEqual([2, [expect.stringContaining('READONLY')]]);
    await askRedis(redis.url, 'REPLICAOF NO ONE');
    await isBack();
    expect((await counter.count(request())).minute.used).toBe(2);
  });

  it('does not take Redis for lost where this process itself was busy', async () => {
    const { counter, fallbacks } = await open();
    await counter.count(request());
    const pending = counter.count(request());
    const startedAt = performance.now();
    while (performance.now() - startedAt < 200);
    await pending;
    expect([fallbacks(), events]).toEqual([0, []]);
  });

  it('keeps a key banned that was banned when Redis was lost', async () => {
    const { counter } = await open(PATIENT);
    const limits = { perMinute: 1, perDay: 1_000 };
    for (let sent = 0; sent < 51; sent++) await counter.count(request({ limits }));
    await redis.kill();
    expect(await counter.count(request({ limits, now: later(noon, MINUTE) }))).toMatchObject({
      outcome: 'key_banned',
      bannedUntil: later(noon, 5 * MINUTE),
    });
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

/** Lets what is under way go on. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
