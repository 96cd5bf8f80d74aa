import { spawn } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { URL } from 'node:url';

const page = readFileSync(join(import.meta.dirname, '../../docker/pooler.md'), 'utf8');
const [, connectQuery, settings] =
  /```ini\n\[databases\]\n.* connect_query='([^']+)'\n\n(\[pgbouncer\]\n[^]+?)```/.exec(page);

/** Starts PgBouncer in front of a store, with the settings of docker/pooler.md. Both listen on Unix sockets. */
export async function openPgBouncer({ url }) {
  const host = new URL(url).searchParams.get('host');
  const file = join(host, 'pgbouncer.ini');
  const ini = [
    '[databases]',
    `* = host=${host} user=postgres connect_query='${connectQuery}'`,
    settings,
    'auth_type = any',
    `unix_socket_dir = ${host}`,
  ];
  writeFileSync(file, `${ini.join('\n')}\n`);
  // It refuses to run as root, and only the owner of the socket's folder may enter that.
  const { uid } = statSync(host);
  const isRoot = process.getuid() === 0;
  if (isRoot) {
    chownSync(file, uid, uid);
    chmodSync(dirname(host), 0o711);
  }
  const child = spawn('pgbouncer', [file], {
    ...(isRoot && { uid, gid: uid }),
    // Debian keeps it off the PATH of users.
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  while (!output.includes('process up')) {
    await setTimeout(10);
    if (child.exitCode !== null) throw new Error(`PgBouncer has ended: ${output}`);
  }
  const [, version] = /PgBouncer ([\d.]+)/.exec(output);
  const pooled = new URL(url);
  pooled.searchParams.set('port', '6432');
  return { url: pooled.href, version, close: () => child.kill('SIGKILL') };
}
