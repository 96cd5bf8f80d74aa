import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A load generator in JavaScript would use more of the other core than PostgreSQL does. */
export const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

/**
 * Sends any of `requests`, each `{ method, path, key, body, isIdempotent }`, to a service for `seconds`, the idempotent
 * ones each with an `Idempotency-Key` of its own. A second before them isn't counted. Returns the requests per
 * second, the latencies in milliseconds, and the time that the service's processor needed for a request in
 * microseconds.
 */
export async function load({ origin, pid }, requests, { connections, seconds }) {
  await wrk(origin, requests, connections, 1);
  const begin = cpuSeconds(pid);
  const { count, duration, p99 } = await wrk(origin, requests, connections, seconds);
  const cpu = ((cpuSeconds(pid) - begin) / count) * 1e6;
  return { rate: count / duration, p99, cpu };
}

/** Processor time of the process with all its threads, user and system, from proc(5); 100 ticks a second. */
export function cpuSeconds(pid) {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The fields of proc(5) behind the name of the process. */
export function statOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
}

/** Megabytes of memory that the process has now; as `VmHWM`, the most that it has had. */
export function memory(pid, field = 'VmRSS') {
  const [, kilobytes] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

const SCRIPT = `
local requests = {}
function init(args)
  math.randomseed(os.time())
  for line in io.lines(args[1]) do
    local method, path, key, isIdempotent, body = line:match("^(%S+) (%S+) (%S+) (%S+) ?(.*)$")
    local headers = { ["Authorization"] = "Bearer " .. key }
    if body ~= "" then headers["Content-Type"] = "application/json" else body = nil end
    if isIdempotent == "true" then headers["Idempotency-Key"] = "UNIQUE" end
    requests[#requests + 1] = { text = wrk.format(method, path, headers, body), isIdempotent = isIdempotent == "true" }
  end
end
local sent, begun = 0, os.time() .. "-" .. math.random(1e9)
function request()
  local chosen = requests[math.random(#requests)]
  if not chosen.isIdempotent then return chosen.text end
  sent = sent + 1
  return (chosen.text:gsub("UNIQUE", begun .. "-" .. sent, 1))
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %f %f %d\\n", summary.requests, summary.duration / 1e6,
    latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end`;

async function wrk(origin, requests, connections, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-load-'));
  const [script, list] = [join(folder, 'load.lua'), join(folder, 'requests')];
  writeFileSync(script, SCRIPT);
  const lines = requests.map(
    ({ method, path, key, isIdempotent = false, body = '' }) => `${method} ${path} ${key} ${isIdempotent} ${body}\n`,
  );
  writeFileSync(list, lines.join(''));
  // A slow service isn't a failing one, so the timeout is longer than the default of 2 s.
  const amount = ['-t1', '--timeout=30s', `-c${connections}`, `-d${seconds}s`, '--latency'];
  const { stdout } = await run('wrk', [...amount, '-s', script, origin, '--', list]);
  rmSync(folder, { recursive: true });
  const [count, duration, p99, errors] = /RESULT (.*)/.exec(stdout)[1].split(' ').map(Number);
  if (errors > 0) throw new Error(`${errors} requests failed: ${stdout}`);
  return { count, duration, p99 };
}
