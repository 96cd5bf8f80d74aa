import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  KEYS,
  redisFor,
  run,
  Running,
  type TestDatabase,
  type TestRedis,
} from '@adoption-store/test-support';
import { decidedAlone } from '../support/decided-alone.js';

const MINUTE = 60_000;
const REQUESTS = 5_000;
/** Rounds for each plan. More take longer and prove more. */
const ROUNDS = Number(process.env['LIMIT_ROUNDS'] ?? 1);
/**
 * A machine without time for Redis is answered after more than 40 ms, and a replica then decides alone. Such a burst is
 * sent again, this many times.
 */
const BURSTS = 5;

const openRedis = redisFor('two replicas that share their limits');

(openRedis ? describe : describe.skip)('two replicas on one PostgreSQL and one Redis', () => {
  let database: TestDatabase;
  let redis: TestRedis | undefined;
  let replicas: Running[] = [];
  let origins: string[] = [];
  let metrics: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });

  beforeAll(async () => {
    [database, redis] = await Promise.all([createDatabase(), openRedis?.()]);
    const settings = { DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '', PORT: '0', HOST: '127.0.0.1' };
    replicas = [new Running(API, [], settings), new Running(API, [], settings)];
    origins = await Promise.all(replicas.map(async (each) => (await each.prints(/Address {2}(\S+)\/v1/))[1] ?? ''));
    metrics = await Promise.all(replicas.map(async (each) => (await each.prints(/Metrics {2}(\S+)/))[1] ?? ''));
  });

  afterAll(async () => {
    agent.destroy();
    await Promise.all(replicas.map((replica) => replica.stop()));
    await redis?.close();
    await database.drop();
  });

  /** The response's status. An unknown path is counted too, and needs no database. */
  function send(origin: string, key: string): Promise<number> {
    return new Promise((resolve, reject) => {
      request(`${origin}/v1/unknown`, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().on('end', () => {
          resolve(response.statusCode ?? 0);
        });
      })
        .on('error', reject)
        .end();
    });
  }

  /** Requests that a replica decided without Redis. */
  async function allDecidedAlone(): Promise<number> {
    return (await Promise.all(metrics.map(decidedAlone))).reduce((sum, count) => sum + count);
  }

  /** Waits until enough of the minute is left for one round. */
  async function minuteWithRoom(): Promise<void> {
    while (MINUTE - (Date.now() % MINUTE) < 20_000) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1);
  it.each(
    rounds.flatMap((round) => [
      ['free', 60, round] as const,
      ['pro', 300, round] as const,
      ['business', 1_000, round] as const,
    ]),
  )(
    `admit exactly the minute of the plan %s, %d, of ${REQUESTS} parallel requests (round %d)`,
    async (plan, limit, round) => {
      for (let burst = 1; ; burst += 1) {
        const email = `${plan}-${round}-${burst}@example.com`;
        const { stdout } = await run(KEYS, ['create', '--email', email, '--plan', plan], {
          DATABASE_URL: database.url,
        });
        await minuteWithRoom();
        const minute = Math.floor(Date.now() / MINUTE);
        const before = await allDecidedAlone();
        const sending = Array.from({ length: REQUESTS }, (_, index) => send(origins[index % 2] ?? '', stdout.trim()));
        const statuses = await Promise.all(sending);
        const alone = (await allDecidedAlone()) - before;
        expect(Math.floor(Date.now() / MINUTE)).toBe(minute);
        const admitted = statuses.filter((status) => status === 404).length;
        expect(statuses.filter((status) => status === 429)).toHaveLength(REQUESTS - admitted);
        expect(Math.abs(admitted - limit)).toBeLessThanOrEqual(alone);
        if (alone === 0) return;
        expect(burst).toBeLessThan(BURSTS);
      }
    },
    // It may have to wait for a new minute first.
    BURSTS * MINUTE,
  );
});
