import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cluster, PORT } from './cluster.js';
import { isOurs, type Run, start } from './programs.js';

/** PostgreSQL's settings, such as `{ fsync: 'off' }`. */
export type Settings = Readonly<Record<string, string>>;

/** Starts a server. It ends immediately if another server holds the cluster. */
export async function startServer(cluster: Cluster, settings: Settings): Promise<Run> {
  const { programs, log, folder, socketFolder } = cluster;
  const fixed = { listen_addresses: '', port: String(PORT), unix_socket_permissions: '0700', TimeZone: 'UTC' };
  const args = ([data = '', socket = '']: readonly string[]) => {
    // PostgreSQL reads this setting as a list; the quotes allow commas in a name.
    const all = { ...settings, ...fixed, unix_socket_directories: `"${socket.replaceAll('"', '""')}"` };
    return ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  };
  // After a crash another program may have the process id of the lock file. PostgreSQL can't tell and would wait for it
  // for ever. It ignores one id, which is meant for the parent of its starter (miscinit.c, CreateLockFile). Removing
  // the file instead could remove the lock of a server that has just started.
  const pid = await lockedBy(cluster);
  const env = pid === undefined || (await isServer(cluster, pid)) ? {} : { PG_GRANDPARENT_PID: String(pid) };
  return start(programs, { program: 'postgres', log, folders: [folder, socketFolder], args, server: { env } });
}

/** The process id of the server that holds the cluster, if one does. */
export async function serverOf(cluster: Cluster): Promise<number | undefined> {
  const pid = await lockedBy(cluster);
  return pid !== undefined && (await isServer(cluster, pid)) ? pid : undefined;
}

async function lockedBy({ folder }: Cluster): Promise<number | undefined> {
  const content = await fs.readFile(join(folder, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    // If the file can't be read, it is unknown whether a server runs.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '';
  });
  const pid = Number.parseInt(content, 10);
  return pid > 0 ? pid : undefined;
}

/**
 * Whether the process is a PostgreSQL of the cluster's own user: the lock file could name another user's process. A
 * zombie doesn't count: in a container whose first process never reaps children, it stays for ever.
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
    // The process has just ended, or is hidden. Waiting for a stranger costs a moment; missing a server could cost
    // data.
    return true;
  }
}

/** Also false for another user's process, which can't be ours. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Stops a server and waits until its process has ended.
 *
 * @throws Error if it doesn't end.
 */
export async function stopServer(cluster: Cluster, pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  // A fast shutdown, then an immediate one (the next start runs recovery): 10 s for each.
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
