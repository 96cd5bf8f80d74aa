import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import ts from 'typescript';
import { onOwnCore } from './cores.mjs';

export const root = join(import.meta.dirname, '../..');

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The Node.js flags of a start script. */
const flagsOf = (script) => /exec node (.*?)\s*apps\//.exec(scripts[script])[1].split(' ').filter(Boolean);
const FLAGS = flagsOf('start:api');
const LISTENS = /Address {2}(\S+)\/v1/;

/** The short id of the commit that a build is of. */
export function commitOf(build) {
  return execFileSync('git', ['-C', build, 'log', '-1', '--format=%h'], { encoding: 'utf8' }).trim();
}

/** Starts the API of a build as a process of its own, and waits until it is ready. */
export function startApi(env, build = root) {
  return start({ program: join(build, 'apps/api/dist/main.js'), env, flags: FLAGS, ready: LISTENS });
}

/** Starts the worker of a build, on the service's core or beside the measured service. */
export function startWorker(env, { build = root, isBeside = false } = {}) {
  const ready = /health at (\S+)\/readyz/;
  const worker = { WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', LOG_LEVEL: 'error', ...env };
  const program = join(build, 'apps/worker/dist/main.js');
  return start({ program, env: worker, flags: flagsOf('start:worker'), ready, isBeside });
}

const EXPERT = () => 'test/benchmark/peers/expert.mjs';
const PEERS = {
  expert: { program: EXPERT },
  'expert with our flags': { program: EXPERT, flags: FLAGS },
  sharing: { program: EXPERT, args: ['--sharing'] },
  nest: { program: compileNest },
};
export const peerNames = Object.keys(PEERS);

/** Starts one of the compared services, see peers/. */
export function startPeer(name, env) {
  const { program, args, flags = [] } = PEERS[name];
  return start({ program: join(root, program()), args, env, flags, ready: LISTENS });
}

/** Compiled here, because no version of Node.js runs decorators. */
function compileNest() {
  const source = readFileSync(join(import.meta.dirname, 'peers/nest.ts'), 'utf8');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      useDefineForClassFields: false,
    },
  });
  mkdirSync(join(root, 'test/dist'), { recursive: true });
  writeFileSync(join(root, 'test/dist/nest-peer.js'), outputText);
  return 'test/dist/nest-peer.js';
}

/** The service prints its address when `ready`. */
async function start({ program, env, args = [], flags, ready, isBeside = false }) {
  const startedAt = performance.now();
  const given = [...flags, program, ...args];
  const [command, all] = isBeside ? [process.execPath, given] : onOwnCore(process.execPath, given);
  const child = spawn(command, all, { env: { METRICS_PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  // A benchmark that fails stops none.
  process.once('exit', () => child.kill());
  const { stdout, stderr } = child;
  let output = '';
  // Ours print it on standard error, the peers on standard output.
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
  const stop = async (signal = 'SIGTERM') => {
    child.kill(signal);
    await exited;
  };
  return { origin, pid: child.pid, startedAt, exited, stop };
}
