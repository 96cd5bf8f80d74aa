import { createKey, startWatched } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, median, middles, round } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

/** The observed variants, and the baseline. */
const NOTHING = { nothing: [], 'nothing, again': [] };
const OPERATIONS = {
  ...NOTHING,
  metrics: ['metrics'],
  'access log': ['log'],
  both: ['log', 'metrics'],
};

/** Measures the cost of logs and metrics. */
export const measureOperations = () => measureWatching(OPERATIONS);

/** Measures the cost of recording each key's daily usage. */
export const measureUsage = () => measureWatching({ ...NOTHING, usage: ['usage'] });

/**
 * Measures the cost of observing requests: the same service with and without it, loaded in turns. The result is the CPU
 * time per request of the process with all its threads, because other work on the machine changes the rate much more
 * than the CPU time.
 */
async function measureWatching(variants) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const keys = [createKey(store.env)];
  const services = {};
  for (const [name, watched] of Object.entries(variants)) services[name] = await startWatched(watched, store.env);
  for (const workload of ['list 20', 'by id']) {
    const requests = withKeys(WORKLOADS[workload], keys);
    const kinds = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, { service, requests }]));
    await inTurns(kinds, { connections: 32, windows: 1 });
    const results = await inTurns(kinds, { connections: 32 });
    console.log(workload);
    console.table(
      Object.fromEntries(Object.entries(results).map(([name, loads]) => [name, row(loads, results.nothing)])),
    );
  }
  for (const { stop } of Object.values(services)) await stop();
  await store.close();
}

function row(loads, unwatched) {
  const { rate, cpu } = middles(loads);
  const ratios = loads.map((load, window) => load.cpu / unwatched[window].cpu);
  const [ratio, from, to] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((each) => round(each, 3));
  return { 'a second': rate, 'µs each': cpu, ratio, from, to };
}
