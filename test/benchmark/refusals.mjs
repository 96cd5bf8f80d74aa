import { createKey, startApi, startWatched } from './services.mjs';
import { openAccounts, openStore } from './store.mjs';
import { inTurns, median, middles, round } from './turns.mjs';
import { ANIMALS, withKeys, WORKLOADS } from './workloads.mjs';

const refused = (path) => [{ method: 'GET', path, refused: true }];

/**
 * Measures the cost of the log of refused requests: the same service with and without it, loaded in turns, for refused
 * and admitted requests. `before` is the folder of a built version without the log, to compare with; its work before the
 * log counts then, too.
 */
export async function measureRefusals({ before }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const [over] = await openAccounts(store, 1, { perMinute: 1 });
  const any = createKey(store.env);
  const workloads = {
    'over the limit (429)': withKeys(refused('/v1/pets'), [over]),
    'malformed (400)': withKeys(refused('/v1/pets?limit=0'), [any]),
    'admitted: list 20': withKeys(WORKLOADS['list 20'], [any]),
    'admitted: by id': withKeys(WORKLOADS['by id'], [any]),
  };
  const services =
    before === undefined
      ? { without: await startWatched(['usage'], store.env), log: await startWatched(['usage', 'refusals'], store.env) }
      : { without: await startApi(store.settings, undefined, before), log: await startApi(store.settings) };
  const figures = {};
  for (const [workload, requests] of Object.entries(workloads)) {
    const kinds = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, { service, requests }]));
    await inTurns(kinds, { connections: 32, windows: 1 });
    const results = await inTurns(kinds, { connections: 32 });
    const ratios = results.log.map(({ cpu }, window) => cpu / results.without[window].cpu);
    figures[workload] = {
      'without, µs': middles(results.without).cpu,
      'with the log, µs': middles(results.log).cpu,
      ...{ ratio: round(median(ratios), 3), from: round(Math.min(...ratios), 3), to: round(Math.max(...ratios), 3) },
    };
  }
  console.table(figures);
  for (const { stop } of Object.values(services)) await stop();
  await store.close();
}
