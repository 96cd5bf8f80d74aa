import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { createKey, startApi } from './services.mjs';

const CONNECTIONS = 32;
const SECONDS = 3;

/** The same service twice, counting in process and in Redis, loaded in turns so that noise meets both. */
export async function compareServices(redisUrl, windows) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const settings = { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn' };
  const services = {
    'HTTP, in process': await startApi(settings),
    'HTTP, Redis': await startApi({ ...settings, REDIS_URL: redisUrl }),
  };
  const key = createKey(settings);
  const results = Object.fromEntries(Object.keys(services).map((name) => [name, []]));
  for (let window = 0; window < windows; window++) {
    for (const [name, { origin }] of Object.entries(services)) results[name].push(await load(origin, key));
  }
  for (const { stop } of Object.values(services)) await stop();
  rmSync(folder, { recursive: true, force: true });
  return Object.entries(results).map(([name, each]) => [
    `${name}, ${CONNECTIONS} connections`,
    { 'p50 µs': median(each, 'p50'), 'p99 µs': median(each, 'p99'), 'a second': median(each, 'rate') },
  ]);
}

/** Latencies are taken from each answer, as autocannon's own histogram has whole milliseconds. */
async function load(origin, key) {
  const latencies = [];
  const run = autocannon({
    url: `${origin}/v1/pets`,
    connections: CONNECTIONS,
    duration: SECONDS,
    headers: { authorization: `Bearer ${key}` },
  });
  run.on('response', (_client, status, _bytes, milliseconds) => {
    if (status !== 200) throw new Error(`an answer was ${status}`);
    latencies.push(milliseconds * 1000);
  });
  const { duration } = await run;
  latencies.sort((one, other) => one - other);
  const at = (share) => latencies[Math.floor(latencies.length * share)];
  return { p50: at(0.5), p99: at(0.99), rate: latencies.length / duration };
}

function median(results, field) {
  const values = results.map((result) => result[field]).sort((one, other) => one - other);
  return Math.round(values[Math.floor(values.length / 2)]);
}
