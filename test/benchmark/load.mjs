import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

const run = promisify(execFile);

/**
 * wrk if it is installed, because it uses a fraction of a core. autocannon uses as much CPU as the service under test:
 * on few cores it slows a fast service down, and the ratios look smaller than they are.
 */
const HAS_WRK = spawnSync('wrk', ['--version']).error === undefined;
export const TOOL = HAS_WRK ? 'wrk' : 'autocannon';

/**
 * Sends any of `requests`, each `{ method, path, key, tag, body }` or all of them `refused`, to a service for `seconds`. Returns the requests per
 * second, the latencies in milliseconds, and the service's CPU time per request in microseconds.
 */
export async function load({ origin, pid }, requests, { connections, seconds }) {
  const before = cpuSeconds(pid);
  const { count, duration, p50, p99 } = await (HAS_WRK ? wrk : cannon)(origin, requests, connections, seconds);
  const cpu = ((cpuSeconds(pid) - before) / count) * 1e6;
  await calm(pid);
  return { rate: count / duration, p50, p99, cpu };
}

/** Waits until the service is idle: its remaining work would slow down the next one. */
async function calm(pid) {
  for (let looks = 0; looks < 50; looks++) {
    const before = cpuSeconds(pid);
    await setTimeout(100);
    if (cpuSeconds(pid) - before < 0.03) return;
  }
}

/** CPU time of the process with all its threads, and of its ended children, from /proc; 100 ticks a second. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** Megabytes of memory that it uses now, and its maximum so far. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (field) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)[1]) / 1024;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

const SCRIPT = `
local requests = {}
function init(args)
  math.randomseed(os.time())
  for line in io.lines(args[1]) do
    local method, path, key, tag, body = line:match("^(%S+) (%S+) (%S+) (%S+) ?(.*)$")
    local headers = { ["Authorization"] = "Bearer " .. key }
    if tag ~= "-" then headers["If-None-Match"] = tag end
    if body ~= "" then headers["Content-Type"] = "application/json" else body = nil end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end
function request() return requests[math.random(#requests)] end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %f %f %f %d %d\\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end`;

async function wrk(origin, requests, connections, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-load-'));
  const [script, list] = [join(folder, 'load.lua'), join(folder, 'requests')];
  writeFileSync(script, SCRIPT);
  writeFileSync(
    list,
    requests.map(({ method, path, key, tag = '-', body = '' }) => `${method} ${path} ${key} ${tag} ${body}\n`).join(''),
  );
  // A slow service isn't a failing one, so the timeout is longer than the default of 2 s.
  const args = [
    '-t1',
    '--timeout=30s',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    script,
    origin,
    '--',
    list,
  ];
  const { stdout } = await run('wrk', args);
  rmSync(folder, { recursive: true });
  const [count, duration, p50, p99, errors, refused] = /RESULT (.*)/.exec(stdout)[1].split(' ').map(Number);
  if (errors > 0) throw new Error(`${errors} errors: ${stdout}`);
  // One a minute is admitted before a limit is reached.
  const isExpected = requests[0].refused ? refused > 0.99 * count : refused === 0;
  if (!isExpected) throw new Error(`${refused} of ${count} were refused: ${stdout}`);
  return { count, duration, p50, p99 };
}

/** Latencies are measured for each response, because autocannon's own histogram has whole milliseconds. */
async function cannon(url, requests, connections, duration) {
  const latencies = [];
  const setupRequest = (request) => {
    const { method, path, key, tag, body } = requests[Math.floor(Math.random() * requests.length)];
    const type = body && { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${key}`, ...type, ...(tag && { 'if-none-match': tag }) };
    return { ...request, method, path, headers, body };
  };
  const running = autocannon({ url, connections, duration, requests: [{ setupRequest }] });
  running.on('response', (_client, status, _bytes, milliseconds) => {
    if (status >= 400 && !requests[0].refused) throw new Error(`an answer was ${status}`);
    latencies.push(milliseconds);
  });
  const result = await running;
  if (result.errors > 0) throw new Error(`${result.errors} errors`);
  latencies.sort((one, other) => one - other);
  const at = (share) => latencies[Math.floor(latencies.length * share)];
  return { count: latencies.length, duration: result.duration, p50: at(0.5), p99: at(0.99) };
}
