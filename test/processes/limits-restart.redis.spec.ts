import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  KEYS,
  type RedisServer,
  redisServerFor,
  run,
  type Running,
  type TestDatabase,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

// The settings of the compose file.
const openRedis = redisServerFor('counts that survive their Redis', { appendonly: 'yes' });

(openRedis ? describe : describe.skip)('counts in a Redis that keeps an append-only file', () => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  const started: Running[] = [];

  beforeAll(async () => {
    [database, redis] = await Promise.all([createDatabase(), openRedis?.()]);
  });

  afterAll(async () => {
    await Promise.all(started.map((service) => service.stop()));
    await redis?.close();
    await database.drop();
  });

  it('survive its SIGKILL and that of every instance: the day’s counts and the ban continue', async () => {
    const settings = { DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '', BAN_REFUSALS: '3' };
    const first = await startService(settings);
    started.push(first.service);
    const plan = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', '10'];
    const created = await run(KEYS, ['create', '--email', 'dev@example.com', ...plan], settings);
    const headers = { authorization: `Bearer ${created.stdout.trim()}` };
    const codes = [];
    for (let sent = 0; sent < 14; sent += 1) codes.push((await fetch(`${first.origin}/v1/pets`, { headers })).status);
    expect(codes).toEqual([...Array<number>(10).fill(200), ...Array<number>(4).fill(429)]);
    await Promise.all([redis?.kill(), first.service.stop('SIGKILL')]);
    await redis?.startAgain();
    const second = await startService({ ...settings, LOG_LEVEL: 'warn' });
    started.push(second.service);
    const look = async () => (await fetch(`${second.origin}/v1/rate_limit`, { headers })).json();
    expect(await look()).toMatchObject({
      day: { limit: 10, used: 10, remaining: 0 },
      ban: { until: expect.any(Number) },
    });
    const refused = await fetch(`${second.origin}/v1/pets`, { headers });
    expect(await refused.json()).toMatchObject({ code: 'key_banned', status: 429 });
    expect(second.service.stdout).not.toContain('Redis');
  });
});
