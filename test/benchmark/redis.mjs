import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The Redis of REDIS_URL, or a new one without persistence. Undefined if none is available. */
export async function openRedis() {
  if (process.env.REDIS_URL !== undefined) return { url: process.env.REDIS_URL, close: () => undefined };
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) break;
  }
  return { url: `redis://127.0.0.1:${port}`, close: () => child.kill('SIGKILL') };
}
