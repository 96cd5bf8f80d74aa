import { execFileSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { cpuSeconds, memory, statOf } from './load.mjs';
import { openRedis } from './redis.mjs';
import { about, table, whole } from './results-page.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { ANIMALS } from './workloads.mjs';

const { fetch } = globalThis;

const SECONDS = 20;
const READS = ['/v1/pets', '/v1/pets?status=available', '/v1/pets?status=available&limit=100'];
const byId = () => `/v1/pets/${1 + Math.floor(Math.random() * ANIMALS)}`;
const POST = { method: 'POST', path: () => '/v1/pets', body: '{"name":"Luna","categoryId":3}' };
const GET = { method: 'GET', path: () => [...READS, byId()][Math.floor(Math.random() * 4)] };
// prettier-ignore
const RATES = [[GET, 0], [GET, 100], [GET, 1_000], [POST, 10], [POST, 100]];

/** The processor time of each request at rates that production has, as compose.yaml runs it: two instances, Redis, logs. */
export async function measureSizing() {
  const redis = await openRedis();
  if (redis === undefined) return undefined;
  const store = await openStore();
  await store.fill(ANIMALS);
  const { rows } = await store.client.query('SELECT pg_backend_pid() AS pid');
  const postgres = statOf(rows[0].pid)[1];
  const [key] = await openAccounts(store, 1);
  const settings = { ...store.settings, LOG_LEVEL: 'info', ACCESS_LOG: 'on', REDIS_URL: redis.url };
  const apis = [await startApi(settings), await startApi(settings)];
  const worker = await startWorker(store.env, { isBeside: true });
  const times = () => ({
    api: apis.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    postgres: cpuSecondsOfAll(postgres),
    redis: cpuSeconds(redis.pid),
    worker: cpuSeconds(worker.pid),
  });
  const figures = [];
  await load(apis, key, { ...GET, rate: 1_000, seconds: 5 });
  await load(apis, key, { ...POST, rate: 200, seconds: 5 });
  for (const [what, rate] of RATES) {
    const before = times();
    if (rate === 0) await setTimeout(SECONDS * 1_000);
    else await load(apis, key, { ...what, rate, seconds: SECONDS });
    const after = times();
    const count = Math.max(rate, 1) * SECONDS;
    const each = Object.keys(after).map((name) => whole(((after[name] - before[name]) / count) * 1e6));
    figures.push([rate === 0 ? 'none: µs a second' : what.method, rate, ...each]);
    console.log(figures.at(-1).join(' | '));
  }
  const sizes = `An API took ${whole(memory(apis[0].pid))} MB then, the worker ${whole(memory(worker.pid))} MB.`;
  for (const { stop } of [...apis, worker]) await stop();
  await store.close();
  redis.close();
  const how = about(`a window of ${SECONDS} s for each rate`, store.version);
  const head = ['Requests', 'a second', 'API, µs each', 'PostgreSQL, µs', 'Redis, µs', 'Worker, µs'];
  return `${how} Two instances with their access log, Redis and a worker. ${sizes}\n\n${table(head, figures)}`;
}

/** Sends so many requests a second at an even pace to the instances in turn, whatever becomes of them. */
async function load(apis, key, { method, path, body, rate, seconds }) {
  const start = performance.now();
  const all = [];
  while (all.length < rate * seconds) {
    const due = Math.min(rate * seconds, Math.floor(((performance.now() - start) / 1_000) * rate) + 1);
    while (all.length < due) all.push(send(apis[all.length % apis.length].origin + path(), { key, method, body }));
    await setTimeout(1);
  }
  await Promise.all(all);
}

async function send(url, { key, method, body }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}`);
}

/** Processor time of PostgreSQL: of its first process, its children that have ended, and those that run. */
function cpuSecondsOfAll(first) {
  const children = execFileSync('ps', ['--ppid', first, '-o', 'pid='], { encoding: 'utf8' }).trim().split(/\s+/);
  const ended = statOf(first)
    .slice(13, 15)
    .map((ticks) => Number(ticks) / 100);
  return [...[first, ...children].map(cpuSeconds), ...ended].reduce((sum, each) => sum + each, 0);
}
