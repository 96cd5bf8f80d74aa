import { performance } from 'node:perf_hooks';
import { DEFAULT_BAN_POLICY, NO_REFUSALS, NO_USAGE } from '@adoption-store/domain';
import { InProcessRequestCounter, RedisRequestCounter } from '@adoption-store/infrastructure/testing';
import { openCluster, openRedis } from './redis.mjs';
import { compareServices } from './limiter-over-http.mjs';

const WINDOWS = 9;
const DECISIONS = 200_000;
const ACCOUNTS = 10_000;
const CALLERS = 32;
/** Accounts that each send a request in the same turn of the event loop. */
const MANY = 500;
const REDIS_DECISIONS = 30_000;
const now = Date.UTC(2026, 0, 1, 12);

const middle = (values, share = 0.5) => values.sort((a, b) => a - b)[Math.floor(values.length * share)];
const accounts = Array.from({ length: ACCOUNTS }, (_, index) => ({ accountId: BigInt(index), keyId: BigInt(index) }));
const addresses = accounts.map((_, index) => ({ address: `10.0.${index >> 8}.${index & 255}` }));
const plenty = { perMinute: 1e9, perDay: 1e9 };
const nothingStored = {
  read: async () => ({ usage: NO_USAGE, refusals: NO_REFUSALS }),
  store: () => undefined,
  purge: async () => 0,
};

/**
 * Measures the cost of a decision of the request counter, alone and within a request. Redis is the one of REDIS_URL, or
 * a new redis-server on this machine. Without either, only the in-process counter is measured.
 */
export async function measureLimiter() {
  const rows = await measureInProcess();
  const redis = await openRedis();
  if (redis === undefined) console.warn('SKIPPED: Redis, as REDIS_URL is not set and there is no redis-server.');
  else rows.push(...(await measureRedis('Redis', [redis.url])));
  const cluster = await openCluster();
  if (cluster !== undefined) rows.push(...(await measureRedis('Redis Cluster', cluster.urls)));
  cluster?.close();
  console.table(Object.fromEntries(rows));
  const services = await compareServices(redis?.url);
  redis?.close();
  return services;
}

/** The variants take turns, so that other work on the machine affects all of them. */
async function measureInProcess() {
  const kinds = {
    'in process, admitted': { requesters: accounts, limits: plenty },
    'in process, banned': { requesters: accounts, limits: { perMinute: 0, perDay: 1e9 } },
    'in process, an address': { requesters: addresses, limits: { perMinute: 1e9, perDay: Infinity } },
  };
  const costs = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  const counter = new InProcessRequestCounter(DEFAULT_BAN_POLICY, nothingStored);
  for (let window = 0; window < WINDOWS; window++) {
    for (const [kind, { requesters, limits }] of Object.entries(kinds)) {
      const startedAt = performance.now();
      for (let index = 0; index < DECISIONS; index++) {
        await counter.count({ requester: requesters[index % ACCOUNTS], limits, now });
      }
      costs[kind].push(((performance.now() - startedAt) * 1000) / DECISIONS);
    }
  }
  return Object.entries(costs).map(([kind, each]) => [kind, { 'median µs': round(middle(each)) }]);
}

async function measureRedis(name, urls) {
  const counter = await RedisRequestCounter.connect({ urls }, DEFAULT_BAN_POLICY, 1_000);
  if (!counter.isReady) throw new Error(`${name} can't be reached`);
  const rows = [];
  for (const atOnce of [CALLERS, MANY]) {
    const windows = [];
    for (let window = 0; window < 4; window++) windows.push(await measureRedisOnce(counter, atOnce));
    const [figures] = windows
      .slice(1)
      .sort((one, other) => one['p50 µs'] - other['p50 µs'])
      .slice(1);
    rows.push([`${name}, ${atOnce} at once`, figures]);
  }
  counter.close();
  return rows;
}

async function measureRedisOnce(counter, atOnce) {
  const latencies = [];
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const call = async (caller) => {
    for (let index = caller; index < REDIS_DECISIONS; index += atOnce) {
      const sentAt = performance.now();
      await counter.count({ requester: accounts[index % ACCOUNTS], limits: plenty, now });
      latencies.push((performance.now() - sentAt) * 1000);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, caller) => call(caller)));
  const perSecond = Math.round(latencies.length / ((performance.now() - startedAt) / 1000));
  const { user, system } = process.cpuUsage(cpu);
  const [p50, p99] = [middle(latencies), middle(latencies, 0.99)];
  const cost = round((user + system) / latencies.length);
  return { 'p50 µs': round(p50), 'p99 µs': round(p99), 'a second': perSecond, 'CPU µs': cost };
}

function round(value) {
  return Math.round(value * 100) / 100;
}
