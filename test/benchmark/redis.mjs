import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.mjs';
import { setTimeout as delay } from 'node:timers/promises';

/** The Redis of REDIS_URL, or a new one without persistence. Undefined if none is available. */
export async function openRedis() {
  if (process.env.REDIS_URL !== undefined) return { url: process.env.REDIS_URL, close: () => undefined };
  if (!isInstalled()) return undefined;
  const { port, pid, close } = await startServer();
  return { url: `redis://127.0.0.1:${port}`, pid, close };
}

/** A new Redis Cluster of three primaries. Undefined if there is no redis-server. */
export async function openCluster() {
  if (!isInstalled()) return undefined;
  const servers = await Promise.all([1, 2, 3].map(() => startServer('--cluster-enabled', 'yes')));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const { status, stdout } = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  if (status !== 0) throw new Error(`redis-cli --cluster create: ${stdout}`);
  for (const { port } of servers) while (!isSound(port)) await delay(50);
  return { urls: addresses.map((each) => `redis://${each}`), close: () => servers.forEach(({ close }) => close()) };
}

function isInstalled() {
  return spawnSync('redis-server', ['--version']).status === 0;
}

function isSound(port) {
  return String(spawnSync('redis-cli', ['-p', String(port), 'CLUSTER', 'INFO']).stdout).includes('cluster_state:ok');
}

async function startServer(...settings) {
  const [port, busPort] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const own = settings.length > 0 ? [...settings, '--cluster-port', String(busPort)] : [];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...own];
  const child = spawn('redis-server', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const close = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', close);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) break;
  }
  return { port, pid: child.pid, close };
}
