import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  type AccountId,
  type ApiKeyId,
  DAY,
  HOUR,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  NO_REFUSALS,
  startOf,
} from '@adoption-store/domain';
import { ask } from '@adoption-store/test-support';
import type pg from 'pg';
import { poolOf } from '../src/database/pipelining-pool.js';
import { PostgresCountsStore } from '../src/quotas/postgres-counts-store.js';
import { PostgresRequestRecords } from '../src/quotas/postgres-request-records.js';
import { MOST_HELD } from '../src/quotas/unwritten-requests.js';
import { type Database, openDatabase } from './databases.js';

const ACCOUNTS = 20_000;
const now = instant(Date.now());
let database: Database;
let requesters: readonly KeyRequester[];
/** Milliseconds that each statement took. */
let took: number[];

beforeAll(async () => {
  database = await openDatabase();
  const { dataSource, url } = database;
  // Without the time limit of the adapters.
  await ask(
    url,
    `INSERT INTO accounts (email, plan, created_at)
     SELECT n || '@example.com', 'free', now() FROM generate_series(1, $1::integer) AS n`,
    [ACCOUNTS],
  );
  await ask(
    url,
    `INSERT INTO api_keys (id, account_id, hash, ending, created_at) OVERRIDING SYSTEM VALUE
     SELECT id, id, lpad(to_hex(id), 64, '0'), 'wxyz', now() FROM accounts`,
  );
  const rows = await ask<{ id: string }>(url, 'SELECT id FROM accounts ORDER BY random()');
  requesters = rows.map(({ id }) => ({ accountId: BigInt(id) as AccountId, keyId: BigInt(id) as ApiKeyId }));
  const pool = poolOf(dataSource);
  const query = pool.query.bind(pool);
  const timed = async (statement: pg.QueryArrayConfig) => {
    const startedAt = performance.now();
    const answer = await query(statement);
    took.push(performance.now() - startedAt);
    return answer;
  };
  Object.assign(pool, { query: timed });
});
beforeEach(() => {
  took = [];
});
afterAll(() => database.close());

const longest = () => Math.round(Math.max(...took));

it('the counts and bans of 20,000 accounts, changed during an outage, are saved by the first attempt', async () => {
  const events: string[] = [];
  const store = new PostgresCountsStore(database.dataSource, (event) => events.push(event));
  const usage = { dayStart: startOf(DAY, now), dayUsed: 5, minuteStart: startOf(MINUTE, now), minuteUsed: 2 };
  const refusals = { ...NO_REFUSALS, bannedAt: now, bannedUntil: later(now, HOUR) };
  for (const requester of requesters) store.store(requester, { usage, refusals });
  await store.close();
  console.info(`20,000 accounts and bans: ${took.length} statements, the longest took ${longest()} ms`);
  expect(events).toEqual([]);
  const [saved] = await database.dataSource.query<{ counts: number; bans: number }[]>(
    `SELECT (SELECT count(*)::int FROM request_counts WHERE day_used = 5) AS counts,
       (SELECT count(*)::int FROM key_bans) AS bans`,
  );
  expect(saved).toEqual({ counts: ACCOUNTS, bans: ACCOUNTS });
  expect(took).toHaveLength(ACCOUNTS / 2_000);
});

it('the usage of as many keys as are recorded between two writes is saved by the first attempt, in portions', async () => {
  const events: string[] = [];
  const records = new PostgresRequestRecords(database.dataSource, (event) => events.push(event));
  // One more day than is held.
  for (const day of [0, 1, 2].map((days) => later(now, days * DAY)))
    for (const requester of requesters) records.record({ ...requester, at: day, isUse: false, isAdmitted: true });
  await records.close();
  expect(events).toEqual([]);
  console.info(`50,000 hours of keys: ${took.length} statements, the longest took ${longest()} ms`);
  const [saved] = await database.dataSource.query<{ sum: string }[]>('SELECT sum(admitted) FROM usage_by_day');
  expect(saved).toEqual({ sum: String(MOST_HELD) });
  expect(took).toHaveLength(MOST_HELD / 2_000);
});
