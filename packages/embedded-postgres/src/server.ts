import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cluster, PORT } from './cluster.js';
import { isOurs, type Run, start } from './programs.js';

/** PostgreSQL's settings, such as `{ fsync: 'off' }`. */
export type Settings = Readonly<Record<string, string>>;

/** Starts a server, which ends at once where another one holds the cluster. */
export async function startServer(cluster: Cluster, settings: Settings): Promise<Run> {
  const { programs, log, folder, socketFolder } = cluster;
  const fixed = { listen_addresses: '', port: String(PORT), unix_socket_permissions: '0700', TimeZone: 'UTC' };
  const args = ([data = '', socket = '']: readonly string[]) => {
    // A list to PostgreSQL, in which a quoted name may hold commas.
    const all = { ...settings, ...fixed, unix_socket_directories: `"${socket.replaceAll('"', '""')}"` };
    return ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  };
  // After a crash the lock file's process id may be another program's, which PostgreSQL can't tell and would respect for
  // ever. It excuses one id, meant for its starter's parent (miscinit.c, CreateLockFile). Removing the file instead could
  // remove the lock of a server that has just started.
  const pid = await lockedBy(cluster);
  const env = pid === undefined || (await isServer(cluster, pid)) ? {} : { PG_GRANDPARENT_PID: String(pid) };
  return start(programs, 'postgres', log, [folder, socketFolder], args, { env });
}

/** The process id of the server that holds the cluster, if one does. */
export async function serverOf(cluster: Cluster): Promise<number | undefined> {
  const pid = await lockedBy(cluster);
  return pid !== undefined && (await isServer(cluster, pid)) ? pid : undefined;
}

async function lockedBy({ folder }: Cluster): Promise<number | undefined> {
  const content = await fs.readFile(join(folder, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    // Where it can't be read, nobody knows whether a server runs.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '';
  });
  const pid = Number.parseInt(content, 10);
  return pid > 0 ? pid : undefined;
}

/**
 * Whether the process is a PostgreSQL of the cluster's own user: a lock file could name another's. A zombie isn't one:
 * under a first process that never reaps, as in many containers, it stays for ever.
 */
async function isServer({ programs: { account } }: Cluster, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  try {
    if (process.platform === 'linux') {
      const { uid } = await fs.stat(`/proc/${pid}`);
      return isOurs(uid, account) && /\(postgres\) [^ZX]/.test(await fs.readFile(`/proc/${pid}/stat`, 'utf8'));
    }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'uid=,stat=,comm=', '-p', String(pid)]);
    const [, uid = '', rest = ''] = /^\s*(\d+)\s+(.*)$/s.exec(stdout) ?? [];
    return isOurs(Number(uid), account) && /^[^Z\s].*postgres/.test(rest);
  } catch {
    // Gone in between, or hidden. To wait for a stranger costs a moment; to overlook a server could cost the data.
    return true;
  }
}

/** False also where the process is another user's, and thus none of ours. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Stops a server and waits until its process is gone.
 * @throws Error where it outlives every way of stopping it.
 */
export async function stopServer(cluster: Cluster, pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  // A fast shutdown, then an immediate one, which leaves recovery to the next start: 10 s for each.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      if (!(await isServer(cluster, pid))) return;
      await delay(10);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop.`);
}
