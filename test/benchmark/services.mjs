import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The API as a process of its own, once it is ready. */
export function startApi(env) {
  return start('apps/api/dist/main.js', env, /Address {2}(\S+)\/v1/);
}

/** The worker likewise. */
export function startWorker(env) {
  return start('apps/worker/dist/main.js', env, /health at (\S+)\/readyz/);
}

/** The API with only what is named watched, see watched.mjs. */
export function startWatched(watched, env) {
  return start('test/benchmark/watched.mjs', env, /Address {2}(\S+)\/v1/, watched);
}

const PEERS = { expert: [], sharing: ['--sharing'] };

/** Another's service, see peers/. */
export function startPeer(name, env) {
  return start('test/benchmark/peers/expert.mjs', env, /Address {2}(\S+)\/v1/, PEERS[name]);
}

/** A key that no limit stops. */
export function createKey(env) {
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const args = [join(root, 'apps/cli/dist/keys.js'), 'create', '--email', 'bench@example.com', ...plan];
  return execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trim();
}

async function start(program, env, ready, args = []) {
  const child = spawn(process.execPath, [join(root, program), ...args], {
    env: { METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const origin = ready.exec(output)?.[1];
    if (origin !== undefined) {
      child.stdout.resume();
      return { origin, child, stop: () => stop(child) };
    }
  }
  throw new Error(`${program} has not started: ${output}`);
}

function stop(child) {
  return new Promise((resolve) => {
    child.once('exit', resolve).kill('SIGTERM');
  });
}
