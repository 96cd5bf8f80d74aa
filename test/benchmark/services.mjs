import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** The Node.js flags of the start script. */
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const flags = /exec node (.*?)\s*apps\//.exec(scripts['start:api'])[1].split(' ').filter(Boolean);

/**
 * Starts the API as a separate process and waits until it is ready. `node` is the Node.js program to use, `from` the
 * folder of the built project.
 */
export function startApi(env, node, from = root) {
  return start({ program: 'apps/api/dist/main.js', env, ready: /Address {2}(\S+)\/v1/, node, flags, from });
}

/** Starts the worker in the same way. */
export function startWorker(env) {
  return start({ program: 'apps/worker/dist/main.js', env, ready: /health at (\S+)\/readyz/ });
}

/** Starts the portal in the same way. */
export function startPortal(env) {
  return start({ program: 'apps/portal/dist/main.js', env, ready: /Portal {3}(\S+)/ });
}

/** Starts the API with only the given observers, see watched.mjs. */
export function startWatched(watched, env) {
  return start({ program: 'test/benchmark/watched.mjs', env, ready: /Address {2}(\S+)\/v1/, args: watched });
}

const PEERS = {
  expert: { program: () => 'test/benchmark/peers/expert.mjs' },
  sharing: { program: () => 'test/benchmark/peers/expert.mjs', args: ['--sharing'] },
  typical: { program: compileTypical },
  'typical, throttled': { program: compileTypical, args: ['--throttled'] },
};

export const peerNames = Object.keys(PEERS);

/** Starts one of the compared services, see peers/. */
export function startPeer(name, env, node) {
  const { program, args } = PEERS[name];
  return start({ program: program(), args, env, ready: /Address {2}(\S+)\/v1/, node });
}

/** Creates a key that no limit stops. */
export function createKey(env, from = root) {
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const args = [join(from, 'apps/cli/dist/keys.js'), 'create', '--email', 'bench@example.com', ...plan];
  return execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trim();
}

/** Compiled here, because Node.js before 22 doesn't run TypeScript, and no version runs decorators. */
function compileTypical() {
  const source = readFileSync(join(import.meta.dirname, 'peers/typical.ts'), 'utf8');
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
  writeFileSync(join(root, 'test/dist/typical.js'), outputText);
  return 'test/dist/typical.js';
}

async function start({ program, env, ready, args = [], node = process.execPath, flags: given = [], from = root }) {
  const startedAt = performance.now();
  const child = spawn(node, [...given, join(from, program), ...args], {
    env: { METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  let output = '';
  // The services tell people on standard error where they are, the peers on standard output.
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
  return { origin, pid: child.pid, startedAt, stdout, told: () => output, stop: () => stop(child) };
}

function stop(child) {
  return new Promise((resolve) => {
    child.once('exit', resolve).kill('SIGTERM');
  });
}
