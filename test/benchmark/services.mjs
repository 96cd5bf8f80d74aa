import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { onOwnCore } from './cores.mjs';

export const root = join(import.meta.dirname, '../..');

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The Node.js flags of a start script. */
const flagsOf = (script) => /exec node (.*?)\s*apps\//.exec(scripts[script])[1].split(' ').filter(Boolean);
const LISTENS = /Address {2}(\S+)\/v1/;

/** The short id of the commit that a build is of. */
export function commitOf(build) {
  return execFileSync('git', ['-C', build, 'log', '-1', '--format=%h'], { encoding: 'utf8' }).trim();
}

/** Starts the API of a build as a process of its own, and waits until it is ready. */
export function startApi(env, build = root) {
  return start({ program: join(build, 'apps/api/dist/main.js'), env, flags: flagsOf('start:api'), ready: LISTENS });
}

/** Starts the worker of a build, on the service's core or beside the measured service. */
export function startWorker(env, { build = root, isBeside = false } = {}) {
  const ready = /health at (\S+)\/readyz/;
  const worker = { WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', LOG_LEVEL: 'error', ...env };
  const program = join(build, 'apps/worker/dist/main.js');
  return start({ program, env: worker, flags: flagsOf('start:worker'), ready, isBeside });
}

export function startExpert(env) {
  return start({ program: join(import.meta.dirname, 'expert.mjs'), env, flags: [], ready: LISTENS });
}

/** The service prints its address when `ready`. */
async function start({ program, env, flags, ready, isBeside = false }) {
  const startedAt = performance.now();
  const given = [...flags, program];
  const [command, all] = isBeside ? [process.execPath, given] : onOwnCore(process.execPath, given);
  const child = spawn(command, all, { env: { METRICS_PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  // A benchmark that fails stops none.
  const kill = () => child.kill();
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const { stdout, stderr } = child;
  let output = '';
  // Ours print it on standard error, the expert on standard output.
  const origin = await new Promise((resolve, reject) => {
    const read = (chunk) => {
      output += String(chunk);
      const found = ready.exec(output)?.[1];
      if (found === undefined) return;
      for (const stream of [stdout, stderr]) stream.off('data', read);
      resolve(found);
    };
    for (const stream of [stdout, stderr]) stream.on('data', read);
    child.on('close', () => {
      reject(new Error(`${program} has not started: ${output}`));
    });
  });
  stdout.resume();
  stderr.pipe(process.stderr);
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await exited;
  };
  return { origin, pid: child.pid, startedAt, exited, stop };
}
