import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { URLSearchParams } from 'node:url';
import { promisify } from 'node:util';
import { openEmbeddedPostgres } from '@adoption-store/infrastructure/testing';
import pg from 'pg';
import { createKey, startWatched } from './services.mjs';

const run = promisify(execFile);

const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const WINDOWS = Number(process.env.BENCH_WINDOWS ?? 5);
const CONNECTIONS = 32;

/** What is watched, and what it is compared with. */
const NOTHING = { nothing: [], 'nothing, again': [] };
const OPERATIONS = {
  ...NOTHING,
  metrics: ['metrics'],
  'access log': ['log'],
  both: ['log', 'metrics'],
};
const WORKLOADS = { 'list 20': '/v1/pets', 'by id': '/v1/pets/7' };

/** What logs and metrics cost. */
export const measureOperations = () => measureWatching(OPERATIONS);

/** What it costs to note each key's requests by day. */
export const measureUsage = () => measureWatching({ ...NOTHING, usage: ['usage'] });

/**
 * What it costs to watch requests: the same service, watched and not, loaded in turns. What counts is the processor's time
 * for each request, of the process with all its threads: others on the machine change the rate, and that hardly.
 */
async function measureWatching(variants) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const server = await openEmbeddedPostgres({ dataDirectory: folder, settings: { max_connections: '100' } });
  const query = new URLSearchParams({ host: server.host, port: String(server.port), user: server.user });
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: `postgres:///postgres?${query}` };
  const services = {};
  for (const [name, watched] of Object.entries(variants)) services[name] = await startWatched(watched, env);
  const key = createKey(env);
  await fill(env.DATABASE_URL);
  for (const [workload, path] of Object.entries(WORKLOADS)) {
    const loads = Object.fromEntries(Object.keys(services).map((name) => [name, []]));
    // The first window is for the code to get warm.
    for (let window = 0; window <= WINDOWS; window++) {
      for (const [name, { origin, child }] of turned(Object.entries(services), window)) {
        const result = await load(origin + path, key, child.pid);
        if (window > 0) loads[name].push(result);
      }
    }
    console.log(workload);
    console.table(Object.fromEntries(Object.keys(services).map((name) => [name, row(loads[name], loads.nothing)])));
  }
  for (const { stop } of Object.values(services)) await stop();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Each window begins with another service, so that whatever comes in waves meets them all. */
function turned(entries, window) {
  const begin = window % entries.length;
  return [...entries.slice(begin), ...entries.slice(0, begin)];
}

async function load(address, key, pid) {
  const before = cpuSeconds(pid);
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '-H', `Authorization: Bearer ${key}`, address];
  const { stdout } = await run('wrk', args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const requests = Number(/(\d+) requests in/.exec(stdout)[1]);
  return { rate: requests / SECONDS, cpu: ((cpuSeconds(pid) - before) / requests) * 1e6 };
}

/** Of the process alone, from /proc; 100 ticks a second. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function row(loads, unwatched) {
  const ratios = loads.map(({ cpu }, window) => cpu / unwatched[window].cpu);
  return {
    'a second': Math.round(median(loads.map(({ rate }) => rate))),
    'µs each': round(median(loads.map(({ cpu }) => cpu))),
    ratio: round(median(ratios)),
    from: round(Math.min(...ratios)),
    to: round(Math.max(...ratios)),
  };
}

async function fill(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`
    INSERT INTO animals (name, category_id, status)
    SELECT 'Animal ' || n, n % 20, 'available' FROM generate_series(1, 1000) AS n`);
  await client.end();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function round(value) {
  return Math.round(value * 1_000) / 1_000;
}
