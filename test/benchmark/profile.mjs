import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './load.mjs';
import { createKey, root, startApi, startWorker } from './services.mjs';
import { openStore } from './store.mjs';
import { ANIMALS, walkPages, withKeys, workloadsOf } from './workloads.mjs';

const DEFAULT = ['list of 20', 'later pages', 'by id', 'POST'];
/** Rows with a smaller share are added up. */
const LEAST = 0.005;

/** Prints where the API's processor time goes under each workload: our files, packages, Node.js, garbage collection. */
export async function printProfiles({ workloads = DEFAULT, connections = [32], seconds }) {
  const store = await openStore();
  await store.fill(ANIMALS);
  const key = createKey(store.env);
  const worker = await startWorker(store.env, { isBeside: true });
  for (const workload of workloads) {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-store-profile-'));
    const service = await startApi(store.settings, ['--cpu-prof', '--cpu-prof-dir', folder]);
    const requests = withKeys(workloadsOf((await walkPages(service.origin, key)).ours)[workload], [key]);
    await load(service, requests, { connections: connections[0], seconds });
    const from = process.hrtime.bigint() / 1_000n;
    const { count } = await load(service, requests, { connections: connections[0], seconds: 2 * seconds });
    const to = process.hrtime.bigint() / 1_000n;
    await service.stop();
    const [file] = readdirSync(folder);
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    rmSync(folder, { recursive: true });
    console.log(`\n${workload}, connections: ${connections[0]}; microseconds of a request's processor time`);
    console.table(tableOf(timesOf(profile, Number(from), Number(to)), count));
  }
  await worker.stop();
  await store.close();
}

/** Microseconds by place between two times. A profile and `hrtime` have the same clock. */
function timesOf({ nodes, samples, timeDeltas, startTime }, from, to) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map();
  let now = startTime;
  samples.forEach((id, index) => {
    now += timeDeltas[index];
    const place = places.get(id);
    if (now < from || now > to || place === undefined) return;
    times.set(place, (times.get(place) ?? 0) + timeDeltas[index]);
  });
  return times;
}

function placeOf({ functionName, url }) {
  if (functionName === '(idle)') return undefined;
  if (url.startsWith('node:')) return `node: ${url.slice('node:'.length)}`;
  // V8's own work, and functions that are written in C++.
  if (url === '') return functionName.startsWith('(') ? functionName : `native: ${functionName}`;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name === undefined ? `ours: ${relative(root, path)}` : `npm: ${name}`;
}

function tableOf(times, count) {
  const all = sum(times.values());
  const row = (time) => ({ share: `${((100 * time) / all).toFixed(1)} %`, µs: Number((time / count).toFixed(2)) });
  const kinds = ['ours: ', 'npm: ', 'node: ', 'native: ', '('];
  const totals = kinds.map((kind) => {
    const each = [...times].filter(([place]) => place.startsWith(kind)).map(([, time]) => time);
    return [kind === '(' ? 'ALL of V8' : `ALL ${kind.slice(0, -2)}`, row(sum(each))];
  });
  const large = [...times].filter(([, time]) => time >= LEAST * all).sort(([, one], [, other]) => other - one);
  const rest = all - sum(large.map(([, time]) => time));
  return Object.fromEntries([
    ...totals,
    ...large.map(([place, time]) => [place, row(time)]),
    ['smaller ones', row(rest)],
  ]);
}

function sum(values) {
  return [...values].reduce((total, value) => total + value, 0);
}
