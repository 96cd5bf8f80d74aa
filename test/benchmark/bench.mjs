/** `npm run bench`, or `npm run bench -- messages` for one of them. */
import { measureHostile } from './hostile.mjs';
import { measureLimiter } from './limiter.mjs';
import { measureMessages } from './messages.mjs';
import { measureOperations, measureUsage } from './operations.mjs';
import { measureThroughput } from './throughput.mjs';

const benchmarks = {
  hostile: measureHostile,
  limiter: measureLimiter,
  messages: measureMessages,
  operations: measureOperations,
  throughput: measureThroughput,
  usage: measureUsage,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}, only ${Object.keys(benchmarks).join(', ')}`);
  process.exit(64);
}
for (const [name, measure] of Object.entries(benchmarks)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n${name}`);
  await measure();
}
