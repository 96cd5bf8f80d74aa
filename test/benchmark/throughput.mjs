import { performance } from 'node:perf_hooks';
import { memory } from './load.mjs';
import { nodesAsked } from './nodes.mjs';
import { createKey, peerNames, startApi, startPeer } from './services.mjs';
import { openStore } from './store.mjs';
import { inTurns, median, middles, ratio, round } from './turns.mjs';
import { undisturbed } from './undisturbed.mjs';
import { ANIMALS, deepPages, mixedLists, withKeys, WORKLOADS } from './workloads.mjs';

const { fetch } = globalThis;

const MIXED = 'mixed lists';
const DEEP = 'deep page';
const MILLION = 1_000_000;
const STARTS = 5;
const asked = (name, all) => process.env[name]?.split(',').filter(Boolean) ?? all;

/** Compares the API with the peers on each requested Node.js. The results are by version. */
export async function measureThroughput() {
  const results = {};
  for (const { program, version } of nodesAsked()) {
    console.log(`Node.js ${version}`);
    results[version] = await measureOn(program, {
      connections: asked('BENCH_CONNECTIONS', ['1', '32', '256']).map(Number),
      peers: asked('BENCH_PEERS', peerNames),
      workloads: asked('BENCH_WORKLOADS', [...Object.keys(WORKLOADS), MIXED, DEEP, 'start']),
    });
  }
  return results;
}

/** A short measurement that is enough to detect a slowdown. */
export async function measureShortly() {
  const workloads = ['list 20', 'list 100', 'by id', 'POST', 'mix'];
  return measureOn(process.execPath, { connections: [32], peers: ['expert'], workloads });
}

async function measureOn(node, { connections, peers, workloads }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const starts = {
    ours: () => startApi(store.settings, node),
    ...Object.fromEntries(peers.map((peer) => [peer, () => startPeer(peer, store.env, node)])),
  };
  const keys = [createKey(store.env)];
  const services = {};
  for (const [name, start] of Object.entries(starts)) services[name] = await start();
  const loads = {};
  for (const workload of workloads.filter((name) => name in WORKLOADS)) {
    const requests = withKeys(WORKLOADS[workload], keys);
    loads[workload] = await measureLoad(
      workload,
      kindsOf(services, () => requests),
      connections,
    );
  }
  // The cursors of all peers are the same.
  const withCursors = async (name, requestsOf) => {
    const ours = withKeys(await requestsOf(services.ours, keys[0]), keys);
    const theirs = peers.length === 0 ? [] : withKeys(await requestsOf(services[peers[0]], keys[0]), keys);
    const kinds = kindsOf(services, (service) => (service === 'ours' ? ours : theirs));
    loads[name] = await measureLoad(name, kinds, connections);
  };
  if (workloads.includes(MIXED)) await withCursors(MIXED, mixedLists);
  const peaks = Object.entries(services).map(([name, { pid }]) => [name, round(memory(pid).peak, 0)]);
  if (workloads.includes(DEEP)) {
    await store.fill(MILLION);
    await withCursors(DEEP, deepPages);
  }
  for (const { stop } of Object.values(services)) await stop();
  const startUp = workloads.includes('start') ? await measureStarts(starts, keys[0]) : undefined;
  await store.close();
  return { postgres: store.version, loads, memory: Object.fromEntries(peaks), startUp };
}

function kindsOf(services, requestsOf) {
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => [name, { service, requests: requestsOf(name) }]),
  );
}

async function measureLoad(workload, kinds, connections) {
  // A first round warms up every service's code.
  await inTurns(kinds, { connections: 32, windows: 1 });
  const byConnections = {};
  for (const each of connections) {
    const results = await inTurns(kinds, { connections: each });
    const { ours, ...others } = results;
    const figures = { ours: { ...middles(ours), windows: ours.map(({ rate }) => Math.round(rate)) } };
    for (const [name, windows] of Object.entries(others)) {
      figures[name] = {
        ...middles(windows),
        windows: windows.map(({ rate }) => Math.round(rate)),
        ratio: ratio(ours, windows),
        'p99 ratio': ratio(ours, windows, 'p99'),
      };
    }
    byConnections[each] = figures;
    console.log(`${workload}, connections: ${each}`);
    console.table(figures);
  }
  return byConnections;
}

/**
 * Milliseconds from the start of a process to its first response to an authenticated request, on an existing database.
 */
async function measureStarts(starts, key) {
  const times = Object.fromEntries(Object.keys(starts).map((name) => [name, []]));
  for (let start = 0; start < STARTS; start++) {
    for (const [name, begin] of Object.entries(starts)) {
      times[name].push(await undisturbed(() => measureStart(name, begin, key)));
    }
  }
  const middle = Object.fromEntries(Object.entries(times).map(([name, each]) => [name, round(median(each), 0)]));
  console.log('start-up, ms');
  console.table(middle);
  return middle;
}

async function measureStart(name, begin, key) {
  const { origin, startedAt, stop } = await begin();
  const { status } = await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  const milliseconds = performance.now() - startedAt;
  if (status !== 200) throw new Error(`the first answer of ${name} was ${status}`);
  await stop();
  return milliseconds;
}
