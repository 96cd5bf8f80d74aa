import { performance } from 'node:perf_hooks';
import { load, memory } from './load.mjs';
import { about, judged, table, whole } from './results-page.mjs';
import { peerNames, startApi, startPeer, startWorker } from './services.mjs';
import { openAccounts, openPeers, openStore } from './store.mjs';
import { inTurns, median, middle, ratio, warmUp } from './turns.mjs';
import { ANIMALS, walkPages, withKeys, WORKLOADS, workloadsOf } from './workloads.mjs';

const { fetch } = globalThis;

const CONNECTIONS = [32, 1, 256];
const STARTS = 3;
const MINUTE = 60;

/** Compares the API with its peers: rates, latencies, processor time, start and memory. */
export async function measureThroughput(options) {
  const { workloads = WORKLOADS, peers = peerNames, connections = CONNECTIONS } = options;
  const store = await openStore();
  await store.fill(ANIMALS);
  const [key] = await openAccounts(store, 1);
  const peersEnv = await openPeers(store, ANIMALS, key);
  const starts = {
    ours: () => startApi(store.settings),
    ...Object.fromEntries(peers.map((peer) => [peer, () => startPeer(peer, peersEnv)])),
  };
  const services = {};
  for (const [name, start] of Object.entries(starts)) services[name] = await start();
  // It publishes what is written.
  const worker = await startWorker(store.env, { isBeside: true });
  const pages = await walkPages(services.ours.origin, key);
  const requestsOf = (name, workload) =>
    withKeys(workloadsOf(name === 'ours' ? pages.ours : pages.peers)[workload], [key]);
  const rows = [];
  for (const workload of workloads) {
    const kinds = Object.fromEntries(
      Object.entries(services).map(([name, service]) => [name, { service, requests: requestsOf(name, workload) }]),
    );
    await warmUp(kinds);
    for (const count of connections) {
      rows.push(row(workload, count, await inTurns(kinds, { ...options, connections: count, before: 1 })));
      console.log(rows.at(-1).join(' | '));
    }
  }
  for (const { stop } of Object.values(services)) await stop();
  const compared = peers.flatMap((peer) => [`÷ ${peer}`, `${peer}, µs`]);
  const head = ['Workload', 'Connections', 'Ours, requests/s', 'ours, µs', ...compared, 'p99 ms', 'p99 ÷ expert'];
  const text = [`${about(options, store.version)} Our rate, and its ratio to each peer’s:`, table(head, rows)];
  if (options.workloads === undefined) text.push(await measureFresh(starts, key, (name) => requestsOf(name, 'mix')));
  await worker.stop();
  await store.close();
  return text.join('\n\n');
}

function row(workload, connections, { ours, ...peers }) {
  const compared = Object.values(peers).flatMap((theirs) => {
    const times = ratio(ours, theirs);
    return [judged(times, times < 1), whole(middle(theirs, 'cpu'))];
  });
  const figures = [whole(middle(ours, 'rate')), whole(middle(ours, 'cpu')), ...compared];
  const p99 = peers.expert === undefined ? undefined : ratio(ours, peers.expert, 'p99');
  const latencies = [middle(ours, 'p99').toFixed(1), p99 === undefined ? '' : judged(p99, p99 > 1)];
  return [workload, connections, ...figures, ...latencies];
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
  return table(
    ['', ...names],
    [
      ['Start to the first response, ms', ...names.map((name) => whole(median(times[name])))],
      ['Memory (RSS) after a minute of the mix, MB', ...names.map((name) => whole(sizes[name]))],
    ],
  );
}
