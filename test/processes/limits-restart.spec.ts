import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ask,
  createDatabase,
  KEYS,
  type RedisServer,
  redisServerFor,
  run,
  type Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

// The settings of the compose file.
const openRedis = redisServerFor('counts that survive their Redis', { appendonly: 'yes' });

describe.each([
  { where: 'in PostgreSQL', hasRedis: false },
  ...(openRedis ? [{ where: 'in a Redis that keeps an append-only file', hasRedis: true }] : []),
])('counts $where', ({ hasRedis }) => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  const started: Running[] = [];

  beforeAll(async () => {
    [database, redis] = await Promise.all([createDatabase(), hasRedis ? openRedis?.() : undefined]);
  });

  afterAll(async () => {
    await Promise.all(started.map((service) => service.stop()));
    await redis?.close();
    await database.drop();
  });

  /** Without Redis they are written every half second. */
  const areStored = async () => {
    const [row] = await ask<{ used: number; bans: number }>(
      database.url,
      `SELECT coalesce(max(day_used), 0)::int AS used, (SELECT count(*)::int FROM key_bans) AS bans FROM request_counts`,
    );
    return row?.used === 10 && row.bans === 1;
  };

  it('survive the SIGKILL of all that counts: the day’s counts and the ban continue', async () => {
    const settings = {
      DATABASE_URL: database.url,
      BAN_REFUSALS: '3',
      LOG_LEVEL: 'warn',
      ...(redis && { REDIS_URL: redis.url }),
    };
    const first = await startService(settings);
    started.push(first.service);
    const plan = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', '10'];
    const created = await run(KEYS, ['create', '--email', 'dev@example.com', ...plan], settings);
    const headers = { authorization: `Bearer ${created.stdout.trim()}` };
    const codes = [];
    for (let sent = 0; sent < 13; sent += 1) {
      const response = await fetch(`${first.origin}/v1/pets`, { headers });
      codes.push(response.status === 200 ? 'ok' : ((await response.json()) as { code: string }).code);
    }
    const daily = 'daily_quota_exceeded';
    expect(codes).toEqual([...Array<string>(10).fill('ok'), daily, daily, 'key_banned']);
    if (!hasRedis) await until(areStored);
    await Promise.all([redis?.kill(), first.service.stop('SIGKILL')]);
    await redis?.startAgain();
    const second = await startService(settings);
    started.push(second.service);
    const look = await fetch(`${second.origin}/v1/rate_limit`, { headers });
    expect(await look.json()).toMatchObject({
      day: { limit: 10, used: 10, remaining: 0 },
      ban: { until: expect.any(Number) },
    });
    const refused = await fetch(`${second.origin}/v1/pets`, { headers });
    expect(await refused.json()).toMatchObject({ code: 'key_banned', status: 429 });
    expect(second.service.stdout).not.toContain('Redis');
  });
});
