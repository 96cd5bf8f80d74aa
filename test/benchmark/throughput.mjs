import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { URLSearchParams } from 'node:url';
import { promisify } from 'node:util';
import { openEmbeddedPostgres } from '@adoption-store/infrastructure/testing';
import pg from 'pg';
import { createKey, startApi, startPeer } from './services.mjs';

const run = promisify(execFile);

const ANIMALS = 10_000;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const WINDOWS = Number(process.env.BENCH_WINDOWS ?? 3);
const CONNECTIONS = (process.env.BENCH_CONNECTIONS ?? '1,32,256').split(',').map(Number);

/** Lua for wrk: what each request is. */
const WORKLOADS = {
  'list 20': `request = function() return wrk.format("GET", "/v1/pets") end`,
  'list 100': `request = function() return wrk.format("GET", "/v1/pets?status=available&limit=100") end`,
  'by id': `request = function() return wrk.format("GET", "/v1/pets/" .. math.random(1, ${ANIMALS})) end`,
  POST: `request = function() return wrk.format("POST", "/v1/pets", nil, body) end`,
  mix: `request = function()
    local turn = math.random(1, 100)
    if turn <= 40 then return wrk.format("GET", "/v1/pets") end
    if turn <= 60 then return wrk.format("GET", "/v1/pets?status=available&limit=50") end
    if turn <= 90 then return wrk.format("GET", "/v1/pets/" .. math.random(1, ${ANIMALS})) end
    return wrk.format("POST", "/v1/pets", nil, body)
  end`,
};

const script = (key, request) => `
math.randomseed(os.time())
wrk.headers["Authorization"] = "Bearer ${key}"
wrk.headers["Content-Type"] = "application/json"
body = '{"name":"Luna","categoryId":3}'
${request}
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end`;

/** Our service beside those that others would write, loaded in turns so that whatever the machine does meets them all. */
export async function measureThroughput() {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-bench-'));
  const server = await openEmbeddedPostgres({ dataDirectory: folder, settings: { max_connections: '100' } });
  const query = new URLSearchParams({ host: server.host, port: String(server.port), user: server.user });
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: `postgres:///postgres?${query}` };
  const settings = { ...env, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error' };
  const services = { ours: await startApi(settings) };
  const key = createKey(env);
  await fill(env.DATABASE_URL);
  const peers = (process.env.BENCH_PEERS ?? 'expert,sharing').split(',').filter(Boolean);
  for (const peer of peers) services[peer] = await startPeer(peer, env);
  const rows = {};
  for (const [workload, request] of Object.entries(WORKLOADS)) {
    if (process.env.BENCH_WORKLOADS && !process.env.BENCH_WORKLOADS.split(',').includes(workload)) continue;
    const file = join(folder, 'load.lua');
    writeFileSync(file, script(key, request));
    // So that nobody's code is cold.
    for (const { origin, child } of Object.values(services)) await load(origin, file, 32, child.pid);
    for (const connections of CONNECTIONS) {
      const results = Object.fromEntries(Object.keys(services).map((name) => [name, []]));
      for (let window = 0; window < WINDOWS; window++) {
        for (const [name, { origin, child }] of Object.entries(services)) {
          results[name].push(await load(origin, file, connections, child.pid));
        }
      }
      rows[`${workload}, ${connections}`] = summary(results);
      console.log(workload, connections, JSON.stringify(rows[`${workload}, ${connections}`]));
    }
  }
  for (const { stop } of Object.values(services)) await stop();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  console.table(rows);
}

async function load(origin, file, connections, pid) {
  const before = cpuSeconds(pid);
  const args = ['-t1', `-c${connections}`, `-d${SECONDS}s`, '--latency', '-s', file, origin];
  const { stdout } = await run('wrk', args);
  const [rate, p50, p99, errors] = /RESULT (.*)/.exec(stdout)[1].split(' ').map(Number);
  if (errors > 0) throw new Error(`${errors} errors: ${stdout}`);
  return { rate, p50: p50 / 1_000, p99: p99 / 1_000, cpu: ((cpuSeconds(pid) - before) / (rate * SECONDS)) * 1e6 };
}

/** Of the process alone, from /proc; 100 ticks a second. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function summary(results) {
  const of = (name, field) => median(results[name].map((each) => each[field]));
  const row = {};
  for (const name of Object.keys(results)) {
    row[`${name}/s`] = Math.round(of(name, 'rate'));
    row[`${name} p99`] = round(of(name, 'p99'));
    row[`${name} µs`] = Math.round(of(name, 'cpu'));
    if (name !== 'ours') {
      row[`÷ ${name}`] = round(median(results.ours.map(({ rate }, window) => rate / results[name][window].rate)));
    }
  }
  return row;
}

async function fill(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`
    INSERT INTO animals (name, category_id, status)
    SELECT 'Animal ' || n, n % 20, (ARRAY['available', 'pending', 'sold'])[1 + n % 3]
    FROM generate_series(1, ${ANIMALS}) AS n`);
  await client.query('VACUUM ANALYZE animals');
  await client.end();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function round(value) {
  return Math.round(value * 100) / 100;
}
