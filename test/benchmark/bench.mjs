/**
 * `npm run bench` runs all benchmarks, `npm run bench -- accounts` one of them. `--write` writes their sections of
 * results.md.
 */
import { parseArgs } from 'node:util';
import { measureAccounts } from './accounts.mjs';
import { measureComparison } from './compare.mjs';
import { leaveCoreToService } from './cores.mjs';
import { hasWrk } from './load.mjs';
import { write } from './results-page.mjs';
import { measureSizing } from './sizing.mjs';
import { measureThroughput } from './throughput.mjs';
import { measureWebhooks } from './webhooks.mjs';
import { WORKLOADS } from './workloads.mjs';

const benchmarks = {
  accounts: measureAccounts,
  throughput: measureThroughput,
  compare: measureComparison,
  sizing: measureSizing,
  webhooks: measureWebhooks,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    build: { type: 'string' },
    connections: { type: 'string' },
    windows: { type: 'string' },
    workloads: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const options = {
  build: values.build,
  connections: values.connections?.split(',').map(Number),
  windows: values.windows && Number(values.windows),
  workloads: values.workloads?.split(','),
};

known('benchmark', positionals, Object.keys(benchmarks));
known('workload', options.workloads ?? [], WORKLOADS);
if (!hasWrk) refuse('the load generator wrk isn’t installed (https://github.com/wg/wrk)');
leaveCoreToService();
for (const [name, measure] of Object.entries(benchmarks)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n${name}`);
  const text = await measure(options);
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
