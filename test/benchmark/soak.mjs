import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { load, memory } from './load.mjs';
import { about, table, whole } from './results-page.mjs';
import { startApi, startWorker } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { median } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const EVERY = 10;
/** The share of the time in which code is compiled and pools are filled. */
const WARM_UP = 0.2;

/** Measures whether memory stays flat under the mix. */
export async function measureSoak({ minutes }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const service = await startApi(store.settings, ['--import', join(import.meta.dirname, 'collect-garbage.mjs')]);
  const worker = await startWorker(store.env, { isBeside: true });
  const [key] = await openAccounts(store, 1);
  const requests = withKeys(workloadsOf((await walkPages(service.origin, key)).ours).mix, [key]);
  const [samples, rates] = [[], []];
  for (const startedAt = performance.now(); performance.now() - startedAt < minutes * 60_000;) {
    rates.push((await load(service, requests, { connections: 32, seconds: EVERY })).rate);
    const [minute, rss] = [(performance.now() - startedAt) / 60_000, memory(service.pid)];
    samples.push({ minute, rss, heap: await heapOf(service) });
    console.log(`minute ${minute.toFixed(1)}: RSS ${whole(rss)} MB, heap ${whole(samples.at(-1).heap)} MB`);
  }
  for (const { stop } of [service, worker]) await stop();
  await store.close();
  const warm = samples.filter(({ minute }) => minute > minutes * WARM_UP);
  const rows = [
    ['Memory (RSS), MB', ...figuresOf(warm.map(({ minute, rss }) => [minute, rss]))],
    ['JavaScript heap without garbage, MB', ...figuresOf(warm.map(({ minute, heap }) => [minute, heap]))],
  ];
  const amount = `${minutes} minutes of the mix with 32 connections, ${whole(median(rates))} requests/s.`;
  const how = about({ seconds: EVERY, windows: samples.length }, store.version);
  return `${how} ${amount}\n\n${table(['', 'Lowest', 'Median', 'Highest', 'Growth a minute'], rows)}`;
}

/** Megabytes of JavaScript values after a collection, because garbage isn't growth. */
async function heapOf({ pid, stdout }) {
  const answer = once(stdout, 'data');
  process.kill(pid, 'SIGUSR2');
  return Number(/heap (\d+)/.exec(await answer)[1]) / 2 ** 20;
}

function figuresOf(points) {
  const values = points.map(([, value]) => value);
  const figures = [Math.min(...values), median(values), Math.max(...values)];
  return [...figures.map((value) => value.toFixed(1)), slopeOf(points).toFixed(2)];
}

/** The Theil–Sen estimator: the median slope between any two points, which single collections don't distort. */
function slopeOf(points) {
  return median(
    points.flatMap(([x, y], index) => points.slice(index + 1).map(([later, value]) => (value - y) / (later - x))),
  );
}
