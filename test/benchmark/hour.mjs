import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as after } from 'node:timers/promises';
import { send } from './client.mjs';
import { openFilledStore } from './filled-store.mjs';
import { memory } from './load.mjs';
import { openRedis } from './redis.mjs';
import { startApi, startWorker } from './services.mjs';
import { median, round, slopeOf } from './turns.mjs';
import { YEAR } from './year-rows.mjs';

const PROCESSES = 3;
const KEYS = 20_000;
/** Requests a second, so that each key is used about once a minute. */
const RATE = 300;
const SAMPLE_EVERY = 30_000;
/** Minutes in which caches, pools and free space settle. */
const SETTLING = 10;
/** A curve is flat if it grows by less than this share of its middle in an hour, or by less than its samples differ. */
const FLAT = 0.1;

/** Tables whose rows are updated in place. Their size must not grow with the number of updates. */
const UPDATED = ['api_keys', 'request_counts', 'usage_by_day'];

/** Per table: megabytes with and without indexes, dead rows, and updates so far, HOT ones apart. */
const STATISTICS = `
  SELECT relname AS table, round(pg_table_size(relid) / 1e6, 1)::float8 AS heap, round(pg_indexes_size(relid) / 1e6, 1)::float8 AS indexes,
    n_dead_tup::integer AS dead, n_tup_upd::integer AS updates, n_tup_hot_upd::integer AS hot
  FROM pg_stat_user_tables WHERE relname = ANY($1)`;

/**
 * Measures tables and memory during a mixed load on the database of a large store after a year, without Redis and with it,
 * at the same time.
 */
export async function measureHour({ minutes, scale }) {
  const redis = await openRedis();
  if (redis === undefined) throw new Error('this benchmark needs a redis-server');
  // The databases are filled one after the other.
  const stores = {};
  for (const name of ['without Redis', 'with Redis']) stores[name] = await openStoreOf(scale);
  const [alone, shared] = Object.values(stores);
  const results = await Promise.all([
    run('without Redis', alone, minutes, {}),
    run('with Redis', shared, minutes, { REDIS_URL: redis.url }),
  ]);
  redis.close();
  const runs = Object.fromEntries(results.map(({ name, samples: _, ...run }) => [name, run]));
  const samples = Object.fromEntries(results.map(({ name, samples: taken }) => [name, taken]));
  return { minutes, rate: RATE, keys: KEYS, processes: PROCESSES, runs, samples };
}

function openStoreOf(scale) {
  const rows = { accounts: YEAR.accounts * scale, animals: YEAR.animals * scale };
  return openFilledStore({ rows, known: Math.min(KEYS, rows.accounts), isCompared: false });
}

async function run(name, store, minutes, settings) {
  const env = { ...store.settings, WORKER_PORT: '0', ...settings };
  const apis = [];
  for (let count = 0; count < PROCESSES; count++) apis.push(await startApi(env));
  const worker = await startWorker(env);
  const services = [...apis, worker];
  const loading = startLoad(apis, store.year.keys, store.rows.animals);
  const samples = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < minutes * 60_000) {
    await after(SAMPLE_EVERY);
    const minute = (performance.now() - startedAt) / 60_000;
    const { rows: tables } = await store.client.query(STATISTICS, [UPDATED]);
    const rss = services.map(({ pid }) => memory(pid).now);
    samples.push({
      minute: round(minute),
      ...loading.read(),
      rss: rss.map((each) => round(each, 0)),
      tables,
    });
    const { late, failed } = samples.at(-1);
    const shown = tables.map(
      ({ table, heap, dead, hot, updates }) => `${table} ${heap.toFixed(0)} MB, ${dead} dead, HOT ${hot}/${updates}`,
    );
    console.log(
      `${name}, minute ${minute.toFixed(1)}: ${shown.join('; ')}; RSS ${rss.map(Math.round).join(' ')}; ${failed} failed, ${late} late`,
    );
  }
  await loading.stop();
  for (const { stop } of services) await stop();
  await store.close();
  const { sent, failed, late } = samples.at(-1);
  const early = samples.findLast(({ minute }) => minute <= SETTLING)?.failed ?? 0;
  return {
    name,
    sent,
    'failed at first': early,
    'failed later': failed - early,
    late,
    curves: curvesOf(name, samples),
    samples,
  };
}

/** Sends requests at the given rate, each with the next key, to the processes in turn. */
function startLoad(apis, keys, animals) {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const state = { sent: 0, failed: 0, late: 0 };
  const open = new Set();
  const one = async (index) => {
    // A stride that is coprime with the number of keys, so that neighbours don't follow each other.
    const authorization = `Bearer ${keys[(index * 7_919) % keys.length]}`;
    const { headers, ...sent } = pick(animals);
    const startedAt = performance.now();
    const { status } = await send(agent, apis[index % apis.length].origin, {
      ...sent,
      headers: { ...headers, authorization },
    });
    state.late += performance.now() - startedAt > 2_000 ? 1 : 0;
    state.failed += status >= 400 ? 1 : 0;
  };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * RATE;
    for (; state.sent < due; state.sent++) {
      const asking = one(state.sent)
        .catch(() => (state.failed += 1))
        .finally(() => open.delete(asking));
      open.add(asking);
    }
  }, 10);
  return {
    read: () => ({ ...state }),
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
    },
  };
}

/** The mix of the throughput benchmark, and some messages and additions that are sent once. */
function pick(animals) {
  const at = Math.random();
  if (at < 0.4) return { path: '/v1/pets' };
  if (at < 0.6) return { path: '/v1/pets?status=available&limit=50' };
  if (at < 0.9) return { path: `/v1/pets/${1 + Math.floor(Math.random() * animals)}` };
  if (at < 0.95) return { method: 'POST', path: '/v1/pets', body: '{"name":"Luna","categoryId":3}' };
  const headers = { 'idempotency-key': randomUUID() };
  if (at < 0.98) return { method: 'POST', path: '/v1/pets', body: '{"name":"Luna","categoryId":3}', headers };
  return { method: 'POST', path: '/v1/messages', body: '{"message":"A question."}', headers };
}

/** For each curve after settling: its middle, its growth an hour as a share of that, and whether it is flat. */
function curvesOf(name, samples) {
  const settled = samples.filter(({ minute }) => minute > SETTLING);
  if (settled.length < 2) return {};
  const curves = {};
  const add = (name, of) => {
    const points = settled.map((sample) => [sample.minute, of(sample)]);
    const middle = median(points.map(([, value]) => value));
    const growth = slopeOf(points) * 60;
    const isFlat = growth <= Math.max(FLAT * middle, spreadOf(points.map(([, value]) => value)));
    curves[name] = {
      middle: round(middle, 1),
      'growth an hour': round(growth / Math.max(middle, 1), 3),
      verdict: isFlat ? 'flat' : 'GROWS',
    };
  };
  UPDATED.forEach((table) => {
    const of = (field) => (sample) => sample.tables.find((each) => each.table === table)[field];
    add(`${table}, MB`, of('heap'));
    add(`${table}, indexes, MB`, of('indexes'));
    add(`${table}, dead rows`, of('dead'));
  });
  samples[0].rss.forEach((_, index) => add(`RSS of process ${index + 1}, MB`, ({ rss }) => rss[index]));
  console.log(name);
  console.table(curves);
  return curves;
}

/** The interquartile range. */
function spreadOf(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.75)] - sorted[Math.floor(sorted.length * 0.25)];
}
