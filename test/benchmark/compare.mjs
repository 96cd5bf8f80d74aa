import { resolve } from 'node:path';
import { about, judged, table, whole } from './results-page.mjs';
import { commitOf, root, startApi, startWorker } from './services.mjs';
import { openAccounts, openBeside, openStore } from './store.mjs';
import { inTurns, middle, warmUp } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const WORKLOADS = ['list of 20', 'later pages', 'by id', 'POST', 'mix'];
const CONNECTIONS = [32, 256, 1];
/** Uncounted seconds before each window, in which V8 grows the young generation that it shrank while the service was idle. */
const BEFORE = 0.3;
/** A median that is lower by more than 3 % is a loss. */
const LEAST = 0.97;

/** Compares the API of this build with that of another one, each with a database of its own on one PostgreSQL. */
export async function measureComparison({ build, workloads = WORKLOADS, connections = CONNECTIONS, ...lengths }) {
  if (build === undefined) {
    console.warn('SKIPPED: --build names no other build.');
    return undefined;
  }
  const other = resolve(build);
  const store = await openStore();
  const otherStore = await openBeside(store, 'other', other);
  const builds = { ours: await openBuild(root, store), other: await openBuild(other, otherStore) };
  const rows = [];
  for (const workload of workloads) {
    const kinds = Object.fromEntries(
      Object.entries(builds).map(([name, { service, sets }]) => [name, { service, requests: sets[workload] }]),
    );
    await warmUp(kinds);
    for (const count of connections) {
      rows.push(row(workload, count, await inTurns(kinds, { ...lengths, connections: count, before: BEFORE })));
      console.log(rows.at(-1).join(' | '));
    }
  }
  for (const { close } of Object.values(builds)) await close();
  await otherStore.close();
  await store.close();
  const head = ['Workload', 'Connections', 'Ours, requests/s', 'other', 'ours ÷ other'];
  head.push('ours, µs', 'other, µs', 'ours, p99 ms', 'other, p99 ms');
  const how = `Medians of this build (${commitOf(root)}) and the other one (${commitOf(other)}); bold if lower by more than 3 %.`;
  return `${about(lengths, store.version)} ${how}\n\n${table(head, rows)}`;
}

async function openBuild(build, store) {
  await store.fill(ANIMALS);
  const [key] = await openAccounts(store, 1, {}, build);
  const service = await startApi(store.settings, build);
  // It publishes what is written.
  const worker = await startWorker(store.env, { build, isBeside: true });
  const { ours: pages } = await walkPages(service.origin, key);
  const sets = Object.entries(workloadsOf(pages)).map(([name, requests]) => [name, withKeys(requests, [key])]);
  return {
    service,
    sets: Object.fromEntries(sets),
    async close() {
      await service.stop();
      await worker.stop();
    },
  };
}

function row(workload, connections, { ours, other }) {
  const both = (field, shown) => [ours, other].map((results) => shown(middle(results, field)));
  const times = middle(ours, 'rate') / middle(other, 'rate');
  const rates = [...both('rate', whole), judged(times, times < LEAST)];
  return [workload, connections, ...rates, ...both('cpu', whole), ...both('p99', (each) => each.toFixed(1))];
}
