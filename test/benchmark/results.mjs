import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { draw } from './hour-chart.mjs';
import { TOOL } from './load.mjs';
import { render } from './results-page.mjs';
import { measureShortly } from './throughput.mjs';
import { SECONDS, WINDOWS } from './turns.mjs';

const at = (name) => join(import.meta.dirname, name);
const SLOWER = 0.8;

/**
 * Stores the results in results.json and renders results.md. Throughput is stored by Node.js version, the samples of an
 * hour as a picture.
 */
export function keep(name, figures) {
  const results = kept();
  const about = { date: new Date().toISOString().slice(0, 10), machine: machine(), seconds: SECONDS, windows: WINDOWS };
  if (name === 'throughput') {
    results.throughput ??= {};
    for (const [version, of] of Object.entries(figures)) results.throughput[version] = { ...about, ...of };
  } else {
    results[name] = { ...about, node: process.versions.node, figures };
  }
  if (name === 'hour') {
    const { samples, ...rest } = figures;
    writeFileSync(at('hour.svg'), draw(samples));
    results.hour.figures = rest;
  }
  writeFileSync(at('results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(at('results.md'), render(results));
  execFileSync('npx', ['prettier', '--write', at('results.json'), at('results.md')], { stdio: 'ignore' });
}

/** Measures a few ratios to the expert again, and reports those below 0.8 of the stored ones. */
export async function check() {
  const committed = kept().throughput ?? {};
  const version = Object.keys(committed).find((each) => majorOf(each) === majorOf(process.versions.node));
  if (version === undefined) {
    console.error(`there are no ratios for Node.js ${majorOf(process.versions.node)} in results.json`);
    return false;
  }
  const { loads } = await measureShortly();
  const rows = {};
  for (const [workload, byConnections] of Object.entries(loads)) {
    for (const [connections, { expert }] of Object.entries(byConnections)) {
      const before = committed[version].loads[workload]?.[connections]?.expert.ratio;
      if (before === undefined) throw new Error(`${workload} at ${connections} is not in results.json`);
      rows[`${workload}, ${connections}`] = { before, now: expert.ratio, change: expert.ratio / before };
    }
  }
  console.table(rows);
  const slower = Object.entries(rows).filter(([, { change }]) => change < SLOWER);
  for (const [name, { before, now }] of slower) console.error(`SLOWER: ${name}: ${now} of the expert's, was ${before}`);
  return slower.length === 0;
}

function kept() {
  return existsSync(at('results.json')) ? JSON.parse(readFileSync(at('results.json'), 'utf8')) : {};
}

/** The machine without its name. */
function machine() {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return { cores: cores.length, processor: cores[0].model.trim(), memory, load: TOOL };
}

function majorOf(version) {
  return version.split('.')[0];
}
