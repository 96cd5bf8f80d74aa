import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds, load } from './load.mjs';
import { openRedis } from './redis.mjs';
import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, middles, ratio } from './turns.mjs';
import { ANIMALS, requestsOf } from './workloads.mjs';

const COUNTS = [1, 2, 4];
const CONNECTIONS = 32;
/** The pool of the Kubernetes manifests. */
const POOL = '5';

/**
 * Compares one, two and four processes of the API that share one PostgreSQL, without Redis and with it. Each workload
 * uses as many connections in all, whatever the number of processes.
 */
export async function measureProcesses() {
  const redis = await openRedis();
  const figures = { ...(await measureWith('none')), ...(redis && (await measureWith('Redis', redis))) };
  redis?.close();
  console.table(figures);
  return figures;
}

async function measureWith(counter, redis) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const settings = { ...store.settings, DATABASE_POOL_SIZE: POOL, ...(redis && { REDIS_URL: redis.url }) };
  const keys = [createKey(store.env)];
  const groups = {};
  for (const count of COUNTS) {
    const services = [];
    for (let index = 0; index < count; index++) services.push(await startApi(settings));
    groups[count] = services;
  }
  const figures = {};
  for (const workload of ['list 20', 'mixed lists', 'by id', 'POST', 'mix']) {
    const requests = await requestsOf(workload, groups[1][0], keys);
    const kinds = Object.fromEntries(
      Object.entries(groups).map(([count, services]) => [count, { service: services, requests }]),
    );
    const how = { connections: CONNECTIONS, loadOne: (services, ...rest) => loadAll(store, redis, services, ...rest) };
    // Each process warms up by itself.
    await inTurns(kinds, { ...how, windows: 2 });
    const results = await inTurns(kinds, how);
    for (const [count, windows] of Object.entries(results)) {
      figures[`${workload}; ${CONNECTIONS}; ${counter}; ${count}`] = {
        ...middles(windows),
        'to one': ratio(windows, results[1]),
      };
    }
    // No two requests share a query, as if there were very many processes.
    const alone = await inTurns({ 1: kinds[1] }, { ...how, connections: 1 });
    figures[`${workload}; 1; ${counter}; 1`] = middles(alone[1]);
  }
  for (const { stop } of Object.values(groups).flat()) await stop();
  await store.close();
  return figures;
}

/** Loads all processes at once. Times of processors are microseconds for each request. */
async function loadAll({ client, folder }, redis, services, requests, { connections, seconds }) {
  const before = await readServers(client, folder, redis);
  const shares = await Promise.all(
    services.map((service) => load(service, requests, { connections: connections / services.length, seconds })),
  );
  const after = await readServers(client, folder, redis);
  const rate = sumOf(shares, ({ rate }) => rate);
  const count = rate * seconds;
  return {
    rate,
    p50: sumOf(shares, ({ rate, p50 }) => rate * p50) / rate,
    p99: Math.max(...shares.map(({ p99 }) => p99)),
    cpu: sumOf(shares, ({ rate, cpu }) => rate * cpu) / rate,
    'PostgreSQL cpu': ((after.postgres - before.postgres) / count) * 1e6,
    'transactions for 1,000 requests': ((after.transactions - before.transactions) / count) * 1_000,
    ...(redis?.pid && { 'Redis cpu': ((after.redis - before.redis) / count) * 1e6 }),
  };
}

function sumOf(shares, of) {
  return shares.reduce((sum, share) => sum + of(share), 0);
}

/** Seconds of the servers' processors, and the transactions that PostgreSQL has committed, so far. */
async function readServers(client, folder, redis) {
  const text = 'SELECT xact_commit::int FROM pg_stat_database WHERE datname = current_database()';
  const [{ xact_commit: transactions }] = (await client.query(text)).rows;
  const postmaster = Number.parseInt(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8'), 10);
  const postgres = cpuWithChildren(postmaster);
  return { transactions, postgres, redis: redis?.pid && cpuSeconds(redis.pid) };
}

function cpuWithChildren(parent) {
  for (;;) {
    try {
      return [parent, ...childrenOf(parent)].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    } catch (error) {
      // A child has ended since the list was read: its time is now its parent's.
      if (error.code !== 'ENOENT') throw error;
    }
  }
}

function childrenOf(parent) {
  const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}
