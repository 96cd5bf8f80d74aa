/**
 * `npm run bench` runs all benchmarks, `npm run bench -- messages` one of them. `--write` updates the committed results
 * (results.json and results.md); `--check` fails if the API is slower than those.
 */
import { parseArgs } from 'node:util';
import { measureConditional } from './conditional.mjs';
import { measureGrowth } from './growth.mjs';
import { measureHostile } from './hostile.mjs';
import { measureHour } from './hour.mjs';
import { measureLimiter } from './limiter.mjs';
import { measureMessages } from './messages.mjs';
import { measureOperations, measureUsage } from './operations.mjs';
import { measurePooler } from './pooler.mjs';
import { measurePortal } from './portal.mjs';
import { measureProcesses } from './processes.mjs';
import { measureRefusals } from './refusals.mjs';
import { check, keep } from './results.mjs';
import { measureSizing } from './sizing.mjs';
import { measureSoak } from './soak.mjs';
import { measureThroughput } from './throughput.mjs';
import { measureVersions } from './versions.mjs';
import { measureYear } from './year.mjs';

const benchmarks = {
  conditional: measureConditional,
  growth: measureGrowth,
  hostile: measureHostile,
  hour: measureHour,
  limiter: measureLimiter,
  messages: measureMessages,
  operations: measureOperations,
  pooler: measurePooler,
  portal: measurePortal,
  processes: measureProcesses,
  refusals: measureRefusals,
  sizing: measureSizing,
  soak: measureSoak,
  throughput: measureThroughput,
  usage: measureUsage,
  versions: measureVersions,
  year: measureYear,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Folder of another built version, for `versions` and `refusals`. */
    before: { type: 'string' },
    check: { type: 'boolean', default: false },
    /** Also measures growth to ten million animals. */
    huge: { type: 'boolean', default: false },
    /** Duration of the soak and of the hour. */
    minutes: { type: 'string', default: '2' },
    /** The share of a large store's rows after a year that `year` and `hour` fill in. */
    scale: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}, only ${Object.keys(benchmarks).join(', ')}`);
  process.exit(64);
}
if (values.check) process.exit((await check()) ? 0 : 1);
for (const [name, measure] of Object.entries(benchmarks)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n${name}`);
  const result = await measure({
    before: values.before,
    huge: values.huge,
    minutes: Number(values.minutes),
    scale: Number(values.scale),
  });
  if (values.write && result !== undefined) keep(name, result);
}
