import { resolve } from 'node:path';
import { about, judged, table, whole } from './results-page.mjs';
import { commitOf, root, startApi, startWorker } from './services.mjs';
import { openAccounts, openBeside, openStore } from './store.mjs';
import { measureSets, middle } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const WORKLOADS = ['list of 20', 'later pages', 'by id', '?id=N', 'POST', 'mix'];
const CONNECTIONS = [32, 256, 1];
const ACCOUNTS = 1_000;
/** A median that is lower by more than 3 % is a loss. */
const LEAST = 0.97;

/** Compares the API of this build with that of another one, each with a database of its own on one PostgreSQL. */
export async function measureComparison({ build, workloads = WORKLOADS, connections = CONNECTIONS, windows = 15 }) {
  if (build === undefined) {
    console.warn('SKIPPED: --build names no other build.');
    return undefined;
  }
  const other = resolve(build);
  const store = await openStore();
  const otherStore = await openBeside(store, 'other', other);
  const ours = await openBuild(root, store);
  const theirs = await openBuild(other, otherStore);
  const sets = workloads.map((name) => [name, { ours: ours.kinds[name], other: theirs.kinds[name] }]);
  const rows = await measureSets(sets, { windows, connections }, rowsOf);
  for (const { close } of [ours, theirs, otherStore, store]) await close();
  const head = ['Workload', 'Connections', 'Ours, requests/s', 'other', 'ours ÷ other'];
  head.push('ours, µs', 'other, µs', 'ours, p99 ms', 'other, p99 ms');
  const how = `Medians of this build (${commitOf(root)}) and the other one (${commitOf(other)}); bold if lower by more than 3 %.`;
  return `${about(`${windows} windows of 1 s`, store.version)} ${how}\n\n${table(head, rows)}`;
}

async function openBuild(build, store) {
  await store.fill(ANIMALS);
  const keys = await openAccounts(store, ACCOUNTS);
  const service = await startApi(store.settings, build);
  // It publishes what is written.
  const worker = await startWorker(store.env, { build, isBeside: true });
  const workloads = Object.entries(workloadsOf((await walkPages(service.origin, keys[0])).ours));
  return {
    kinds: Object.fromEntries(workloads.map(([name, each]) => [name, { service, requests: withKeys(each, keys) }])),
    async close() {
      await service.stop();
      await worker.stop();
    },
  };
}

function rowsOf(workload, connections, { ours, other }) {
  const both = (field, shown) => [ours, other].map((results) => shown(middle(results, field)));
  const times = middle(ours, 'rate') / middle(other, 'rate');
  const rates = [...both('rate', whole), judged(times, { least: LEAST })];
  return [[workload, connections, ...rates, ...both('cpu', whole), ...both('p99', (each) => each.toFixed(1))]];
}
