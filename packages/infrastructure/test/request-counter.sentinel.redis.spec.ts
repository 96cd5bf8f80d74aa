import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_BAN_POLICY } from '@adoption-store/domain';
import { type RedisSentinels, redisSentinelsFor, SENTINEL_NAME } from '@adoption-store/test-support';
import type { RedisAddress } from '../src/quotas/redis-connection.js';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { FailoverLoad, openInstance } from './redis-failover.js';
import { ANY_CLOCK, newRequester, noon, TIMEOUT } from './request-counters.js';

const openSentinels = redisSentinelsFor('request counters with Redis Sentinel');
(openSentinels === undefined ? describe.skip : describe)('request counters with three Sentinels', () => {
  const limits = { perMinute: 40, perDay: 1_000 };
  const closing: (() => unknown)[] = [];
  let database: Database;
  let servers: RedisSentinels;
  let address: RedisAddress;
  beforeAll(async () => {
    if (openSentinels === undefined) throw new Error('skipped above');
    [database, servers] = await Promise.all([openDatabase(), openSentinels()]);
    address = { urls: servers.urls, sentinelName: SENTINEL_NAME };
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await servers.close();
    await database.close();
  });

  it('admit exactly the limit to four instances, which count on the primary', async () => {
    const connect = () => RedisRequestCounter.connect(address, DEFAULT_BAN_POLICY, TIMEOUT, ANY_CLOCK);
    const instances = await Promise.all([connect(), connect(), connect(), connect()]);
    closing.push(
      ...instances.map((instance) => () => {
        instance.close();
      }),
    );
    const requester = newRequester();
    const verdicts = await Promise.all(
      instances.flatMap((instance) =>
        Array.from({ length: 25 }, () => instance.count({ requester, limits, now: noon })),
      ),
    );
    expect(verdicts.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(limits.perMinute);
    expect(await servers.primary.ask('DBSIZE')).toBe('1');
  });

  it('say that an address without the name is that of a Sentinel', async () => {
    const instance = await openInstance(database, { urls: servers.urls.slice(0, 1) });
    closing.push(() => instance.close());
    expect(instance.isShared()).toBe(false);
    expect(instance.reason()).toBe('REDIS_URL leads to a Sentinel: set REDIS_SENTINEL_NAME');
  });

  it('admit no request above the limit but those decided alone or not replicated, where the primary is killed', async () => {
    const load = await FailoverLoad.start(database, address);
    closing.push(() => load.close());
    await load.expectFailover(servers.primary, servers.replica, () => true);
  });

  it('do not count on the former primary, which is back and takes itself for the primary', async () => {
    await servers.primary.startAgain();
    expect(await servers.primary.ask('INFO replication')).toContain('role:master');
    const instance = await openInstance(database, address);
    closing.push(() => instance.close());
    const requester = newRequester();
    await instance.counter.count({ requester, limits, now: noon });
    expect(await servers.replica.ask(`GET quota:account:${requester.accountId}`)).toMatch(/^\d+ 1 \d+ 1$/);
    expect([instance.isShared(), instance.fallbacks()]).toEqual([true, 0]);
  });
});
