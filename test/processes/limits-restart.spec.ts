import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

async function startService(): Promise<{ service: Running; origin: string }> {
  const service = new Running(API, [], {
    DATABASE_URL: database.url,
    PORT: '0',
    HOST: '127.0.0.1',
    BAN_REFUSALS: '3',
  });
  return { service, origin: (await service.prints(/Address {2}(\S+)\/v1/))[1] ?? '' };
}

async function keptCounts(): Promise<{ used: number; bans: number }> {
  const { rows } = await client.query<{ used: number; bans: number }>(
    `SELECT coalesce(max(day_used), 0)::int AS used, (SELECT count(*)::int FROM key_bans) AS bans FROM request_counts`,
  );
  return rows[0] ?? { used: 0, bans: 0 };
}

it('keeps the day’s counts and the bans through kill -9, except for the last second', async () => {
  const first = await startService();
  await client.connect();
  const create = [
    'create',
    '--email',
    'dev@example.com',
    '--plan',
    'enterprise',
    '--per-minute',
    '1000',
    '--per-day',
    '10',
  ];
  const authorization = `Bearer ${(await run(KEYS, create, { DATABASE_URL: database.url })).stdout.trim()}`;
  const codes = [];
  for (let sent = 0; sent < 13; sent += 1) {
    const response = await fetch(`${first.origin}/v1/pets`, { headers: { authorization } });
    codes.push(response.status === 200 ? 'ok' : ((await response.json()) as { code: string }).code);
  }
  expect(codes).toEqual([
    ...Array<string>(10).fill('ok'),
    'daily_quota_exceeded',
    'daily_quota_exceeded',
    'key_banned',
  ]);

  // Written every half second. The rest is for a loaded machine.
  const deadline = performance.now() + 5_000;
  let kept = await keptCounts();
  while ((kept.used < 10 || kept.bans < 1) && performance.now() < deadline) kept = await keptCounts();
  expect(kept).toEqual({ used: 10, bans: 1 });
  await first.service.stop('SIGKILL');

  const second = await startService();
  const response = await fetch(`${second.origin}/v1/rate_limit`, { headers: { authorization } });
  expect(await response.json()).toMatchObject({
    day: { limit: 10, used: 10, remaining: 0 },
    ban: { until: expect.any(Number) },
  });
  await second.service.stop();
});
