import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  DAY,
  DEFAULT_BAN_POLICY,
  HOUR,
  type Instant,
  instant,
  later,
  MINUTE,
  type RequestCounter,
  SECOND,
} from '@adoption-store/domain';
import { InMemoryRequestCounter } from '@adoption-store/domain/testing';
import { createRequestCounter } from '../src/quotas/create-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { midnight, noon, storedRequester } from './request-counters.js';

describe('a request counter in this process', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.close());

  const start = () =>
    createRequestCounter({
      dataSource: database.dataSource,
      policy: DEFAULT_BAN_POLICY,
      onEvent: () => undefined,
      onRedisState: () => undefined,
    });

  describe('a purge', () => {
    interface Kept {
      readonly days?: readonly Instant[];
      readonly bans?: readonly (readonly [at: Instant, until: Instant])[];
    }
    /** Replaces the stored rows by these, each with a new account and key. */
    async function store({ days = [], bans = [] }: Kept) {
      const { dataSource } = database;
      await dataSource.query('TRUNCATE request_counts, key_bans');
      for (const day of days) {
        const { accountId } = await storedRequester(database);
        await dataSource.query('INSERT INTO request_counts VALUES ($1, $2, 5)', [accountId, new Date(day)]);
      }
      for (const [at, until] of bans) {
        const { keyId } = await storedRequester(database);
        await dataSource.query('INSERT INTO key_bans VALUES ($1, $2, $3)', [keyId, new Date(at), new Date(until)]);
      }
    }
    async function stored(): Promise<Required<Kept>> {
      const { dataSource } = database;
      const days = await dataSource.query<{ day_start: Date }[]>('SELECT day_start FROM request_counts ORDER BY 1');
      const bans = await dataSource.query<{ banned_at: Date; banned_until: Date }[]>(
        'SELECT banned_at, banned_until FROM key_bans ORDER BY 1, 2',
      );
      const instantOf = (date: Date) => instant(date.getTime());
      return {
        days: days.map(({ day_start }) => instantOf(day_start)),
        bans: bans.map(({ banned_at, banned_until }) => [instantOf(banned_at), instantOf(banned_until)] as const),
      };
    }
    const purgeAt = async (now: Instant) => {
      const running = await start();
      try {
        return await running.counter.purge(now);
      } finally {
        await running.close();
      }
    };

    it('deletes the counts of days that ended a day ago, and only those', async () => {
      const days = [-2, -1, 0, 1].map((day) => later(midnight, day * DAY));
      await store({ days });
      expect(await purgeAt(later(midnight, DAY - 1))).toBe(1);
      expect((await stored()).days).toEqual(days.slice(1));
      expect(await purgeAt(later(midnight, DAY))).toBe(1);
      expect((await stored()).days).toEqual(days.slice(2));
      expect(await purgeAt(later(midnight, DAY))).toBe(0);
    });

    it('deletes the bans that have been irrelevant for a day, and only those', async () => {
      const short = [noon, later(noon, 5 * MINUTE)] as const;
      const long = [noon, later(noon, 3 * DAY)] as const;
      const further = [later(noon, 1), later(noon, HOUR)] as const;
      await store({ bans: [short, long, further] });
      expect(await purgeAt(later(noon, 2 * DAY - 1))).toBe(0);
      expect(await purgeAt(later(noon, 2 * DAY))).toBe(1);
      expect((await stored()).bans).toEqual([long, further]);
      expect(await purgeAt(later(noon, 4 * DAY - 1))).toBe(1);
      expect((await stored()).bans).toEqual([long]);
      expect(await purgeAt(later(noon, 4 * DAY))).toBe(1);
      expect((await stored()).bans).toEqual([]);
    });

    it('deletes any number of rows', async () => {
      const { dataSource } = database;
      await store({ days: [noon] });
      await dataSource.query(`
        INSERT INTO accounts (email, plan, created_at)
        SELECT 'many-' || n || '@example.com', 'free', now() FROM generate_series(1, 2500) AS n`);
      await dataSource.query(`INSERT INTO request_counts SELECT id, $1, 1 FROM accounts WHERE email LIKE 'many-%'`, [
        new Date(later(midnight, -DAY)),
      ]);
      expect(await purgeAt(later(midnight, DAY))).toBe(2_500);
      expect((await stored()).days).toEqual([noon]);
    });

    it('changes no decision of a process that starts later, even if its clock is a day behind', async () => {
      const limits = { perMinute: 1, perDay: 1_000 };
      for (const passed of [SECOND, HOUR, 12 * HOUR - 1, 12 * HOUR, DAY - 1, DAY]) {
        const requester = await storedRequester(database);
        const send = async (counter: RequestCounter, times: number, at: Instant) => {
          for (let sent = 0; sent < times; sent++) await counter.count({ requester, limits, now: at });
        };
        const now = later(noon, passed);
        const before = await start();
        const model = new InMemoryRequestCounter(DEFAULT_BAN_POLICY);
        for (const counter of [before.counter, model]) await send(counter, 51, noon);
        await before.close();
        await purgeAt(later(now, DAY));
        const after = await start();
        for (const sent of [0, 1, 51]) {
          for (const counter of [after.counter, model]) await send(counter, sent, now);
          const { outcome, day, bannedUntil } = await model.look({ requester, limits, now });
          expect(await after.counter.look({ requester, limits, now })).toMatchObject({ outcome, day, bannedUntil });
        }
        await after.close();
      }
    });

    it('skips rows that are just being written, and does not wait for them', async () => {
      const days = [later(midnight, -5 * DAY), later(midnight, -5 * DAY)];
      await store({ days });
      await database.dataSource.transaction(async (manager) => {
        await manager.query('SELECT FROM request_counts LIMIT 1 FOR UPDATE');
        expect(await purgeAt(midnight)).toBe(1);
      });
      expect(await purgeAt(midnight)).toBe(1);
    });
  });
});
