import { performance } from 'node:perf_hooks';
import { load, memory } from './load.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { startApi, startExpert, startWorker } from './services.mjs';
import { openAccounts, openExpertsDatabase, openStore } from './store.mjs';
import { measureSets, median, middle, ratio } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, WORKLOADS, workloadsOf } from './workloads.mjs';

const { fetch } = globalThis;

const CONNECTIONS = [32, 1, 256];
const STARTS = 3;
const MINUTE = 60;
/** The least of the expert's rate and the most of its p99, by the number of connections. Where none is given: 1. */
const LEAST = {
  'list of 20': { 32: 1.75, 1: 0.88 },
  'list of 100 by status': { 32: 2.8 },
  'later pages': { 32: 1, 1: 0.88, 256: 1.15 },
  'by id': { 32: 1.3, 1: 0.88 },
  POST: { 32: 1.1, 1: 0.75, 256: 1.15 },
  mix: { 32: 1.05, 256: 1.25 },
};
const MOST_P99 = { 'later pages': { 32: 1.2, 256: 1.2 }, mix: { 32: 1.2, 256: 1.2 } };
const [MOST_START, MOST_MEMORY] = [1_400, 220];

/** Compares the API with the expert's: rates, latencies, processor time, start and memory. */
export async function measureThroughput({ workloads, connections = CONNECTIONS, windows = 15 }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const [key] = await openAccounts(store, 1);
  const expertsEnv = await openExpertsDatabase(store, ANIMALS, key);
  const starts = { ours: () => startApi(store.settings), expert: () => startExpert(expertsEnv) };
  const services = { ours: await starts.ours(), expert: await starts.expert() };
  // It publishes what is written.
  const worker = await startWorker(store.env, { isBeside: true });
  const pages = await walkPages(services.ours.origin, key);
  const requests = { ours: workloadsOf(pages.ours), expert: workloadsOf(pages.expert) };
  // The expert has no `?id=`.
  requests.expert['?id=N'] = requests.expert['by id'];
  const kindOf = (name, workload) => ({
    service: services[name],
    requests: withKeys(requests[name][workload], [key]),
  });
  const sets = (workloads ?? WORKLOADS).map((workload) => [
    workload,
    { ours: kindOf('ours', workload), expert: kindOf('expert', workload) },
  ]);
  const rows = await measureSets(sets, { windows, connections }, rowsOf);
  for (const { stop } of Object.values(services)) await stop();
  const head = ['Workload', 'Connections', 'Ours, requests/s', 'ours, µs', 'least ÷ expert', '÷ expert', 'expert, µs'];
  head.push('p99 ms', 'most ÷ expert', 'p99 ÷ expert');
  const how = `${about(`${windows} windows of 1 s`, store.version)} Our rate, and its ratio to the expert’s:`;
  const text = [how, table(head, rows)];
  if (workloads === undefined) text.push(await measureFresh(starts, key, (name) => kindOf(name, 'mix').requests));
  await worker.stop();
  await store.close();
  return text.join('\n\n');
}

function rowsOf(workload, connections, { ours, expert }) {
  const [least, most] = [LEAST, MOST_P99].map((bars) => bars[workload]?.[connections]);
  const figures = [whole(middle(ours, 'rate')), whole(middle(ours, 'cpu'))];
  const rate = [least ?? '', judged(ratio(ours, expert), { least: least ?? 1 }), whole(middle(expert, 'cpu'))];
  const p99 = [middle(ours, 'p99').toFixed(1), most ?? '', judged(ratio(ours, expert, 'p99'), { most: most ?? 1 })];
  return [[workload, connections, ...figures, ...rate, ...p99]];
}

/** The time to the first response and the memory of new processes. */
async function measureFresh(starts, key, mixOf) {
  const names = Object.keys(starts);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const sizes = {};
  for (let start = 1; start <= STARTS; start++) {
    for (const [name, begin] of Object.entries(starts)) {
      const service = await begin();
      const { status } = await fetch(`${service.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
      times[name].push(performance.now() - service.startedAt);
      if (status !== 200) throw new Error(`the first answer of ${name} was ${status}`);
      if (start === STARTS) {
        await load(service, mixOf(name), { connections: 32, seconds: MINUTE });
        sizes[name] = memory(service.pid);
      }
      await service.stop();
    }
  }
  const row = (what, most, { ours, expert }) => [
    what,
    whole(most),
    ours > most ? `**${whole(ours)}**` : whole(ours),
    whole(expert),
  ];
  const start = { ours: median(times.ours), expert: median(times.expert) };
  return table(
    ['', 'ours at most', ...names],
    [
      row('Start to the first response, ms', MOST_START, start),
      row('Memory (RSS) after a minute of the mix, MB', MOST_MEMORY, sizes),
    ],
  );
}
