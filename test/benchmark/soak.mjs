import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { load, memory } from './load.mjs';
import { createKey, startApi } from './services.mjs';
import { openStore } from './store.mjs';
import { median, round, slopeOf } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const { fetch } = globalThis;

const EVERY = 10;
/** The share of the time in which code is compiled and pools are filled. */
const WARM_UP = 0.2;
/** Memory is flat if it grows by less than this share within an hour; less is noise. */
const FLAT = 0.1;
const HELD = { 'RSS, MB': ({ rss }) => rss, 'heap without garbage, MB': ({ heap }) => heap };

/** Measures whether memory stays flat under a closed-loop mixed load. */
export async function measureSoak({ minutes }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const key = createKey(store.env);
  const preloaded = join(import.meta.dirname, 'collecting.mjs');
  const service = await startApi({ ...store.settings, NODE_OPTIONS: `--import=${preloaded}` });
  const metrics = /Metrics {2}(\S+)/.exec(service.told())[1];
  const requests = withKeys(WORKLOADS.mix, [key]);
  const samples = [];
  const rates = [];
  for (const startedAt = performance.now(); performance.now() - startedAt < minutes * 60_000;) {
    rates.push((await load(service, requests, { connections: 32, seconds: EVERY })).rate);
    const minute = (performance.now() - startedAt) / 60_000;
    const rss = memory(service.pid).now;
    // Garbage isn't growth, so it is collected first.
    process.kill(service.pid, 'SIGUSR2');
    await after(500);
    samples.push({ minute, rss, heap: await heapOf(metrics) });
    const { heap } = samples.at(-1);
    console.log(`minute ${minute.toFixed(1)}: RSS ${rss.toFixed(0)} MB, heap ${heap.toFixed(0)} MB`);
  }
  await service.stop();
  await store.close();
  const warm = samples.filter(({ minute }) => minute > minutes * WARM_UP);
  const result = { minutes, 'a second': round(median(rates), 0), memory: {} };
  for (const [name, of] of Object.entries(HELD)) {
    const held = warm.map((sample) => [sample.minute, of(sample)]);
    const [middle, slope] = [median(held.map(([, value]) => value)), slopeOf(held)];
    const isFlat = slope * 60 <= middle * FLAT;
    const [least, most] = [Math.min(...held.map(([, value]) => value)), Math.max(...held.map(([, value]) => value))];
    result.memory[name] = {
      ...{ least: round(least, 1), middle: round(middle, 1), most: round(most, 1) },
      ...{ 'growth a minute': round(slope, 3), verdict: isFlat ? 'flat' : 'GROWS' },
    };
  }
  console.table(result.memory);
  return result;
}

/** Megabytes of JavaScript values, from the service's metrics. */
async function heapOf(metrics) {
  const text = await (await fetch(metrics)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)[1]) / 2 ** 20;
}
