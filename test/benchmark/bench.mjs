/**
 * `npm run bench` runs all benchmarks, `npm run bench -- limiter` one of them. `--write` writes their sections of
 * results.md.
 */
import { parseArgs } from 'node:util';
import { measureComparison } from './compare.mjs';
import { leaveCoreToService } from './cores.mjs';
import { measureLimiter } from './limiter.mjs';
import { hasWrk } from './load.mjs';
import { write } from './results-page.mjs';
import { peerNames } from './services.mjs';
import { measureSizing } from './sizing.mjs';
import { measureThroughput } from './throughput.mjs';
import { measureWebhooks } from './webhooks.mjs';
import { WORKLOADS } from './workloads.mjs';

const benchmarks = {
  throughput: measureThroughput,
  compare: measureComparison,
  limiter: measureLimiter,
  sizing: measureSizing,
  webhooks: measureWebhooks,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    build: { type: 'string' },
    connections: { type: 'string' },
    deliveries: { type: 'string', default: '6000' },
    peers: { type: 'string' },
    seconds: { type: 'string' },
    windows: { type: 'string' },
    workloads: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const listOf = (name) => values[name]?.split(',').filter(Boolean);

known('benchmark', positionals, Object.keys(benchmarks));
known('workload', listOf('workloads') ?? [], WORKLOADS);
known('peer', listOf('peers') ?? [], peerNames);
if (!hasWrk) refuse('the load generator wrk isn’t installed (https://github.com/wg/wrk)');
leaveCoreToService();
const options = {
  build: values.build,
  deliveries: Number(values.deliveries),
  connections: listOf('connections')?.map(Number),
  peers: listOf('peers'),
  workloads: listOf('workloads'),
};
for (const [name, measure] of Object.entries(benchmarks)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n${name}`);
  // Two builds differ less than two services do, so their comparison has more windows, and shorter ones.
  const { seconds = name === 'compare' ? 0.8 : 3, windows = name === 'compare' ? 15 : 5 } = values;
  const text = await measure({ ...options, seconds: Number(seconds), windows: Number(windows) });
  if (text === undefined) continue;
  console.log(`\n${text}`);
  if (values.write) write(`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, text);
}

function known(kind, given, all) {
  const unknown = given.filter((name) => !all.includes(name));
  if (unknown.length > 0) refuse(`there is no ${kind} ${unknown.join(', ')}, only ${all.join(', ')}`);
}

function refuse(reason) {
  console.error(reason);
  process.exit(64);
}
