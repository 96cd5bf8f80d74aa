import { execFile, spawn } from 'node:child_process';
import { constants, open, readFile, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unlessMissing } from './embedded-postgres-cluster.js';
import type { Cluster } from './embedded-postgres-cluster.js';
import { commandFor, explainFailure, handOver, serverEnvironment } from './embedded-postgres-programs.js';

/** A server that this process tried to start. */
export interface Launch {
  readonly pid: number | undefined;
  readonly isRunning: () => boolean;
  /** What went wrong once it ended; undefined where it was stopped, or another server holds the cluster. */
  readonly explain: () => Promise<Error | undefined>;
}

const largestLog = 10 * 1024 * 1024;
const tailLength = 4 * 1024;
/** What PostgreSQL says where another server, or what is left of a killed one, holds the cluster (miscinit.c). */
const held = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;
/** Milliseconds each way of stopping gets: fast shutdown, then immediate, which leaves recovery to the next start. */
const waysToStop = [
  { signal: 'SIGINT', patience: 10_000 },
  { signal: 'SIGQUIT', patience: 10_000 },
] as const;

/** Starts a server in a session of its own, so that a Ctrl-C meant for its users doesn't reach it. */
export async function launch(cluster: Cluster, settings: Readonly<Record<string, string>>): Promise<Launch> {
  const env = { ...serverEnvironment, ...(await excuseStaleLock(cluster)) };
  const log = await openLog(cluster);
  const from = (await log.stat()).size;
  const { paths, descriptors, close } = await handOver(cluster.account, [cluster.folder, cluster.socketFolder]);
  const options = serverArguments(cluster, paths, settings);
  const [command, args] = commandFor(cluster.account, cluster.programs.postgres, options);
  const stdio = ['ignore' as const, log.fd, log.fd, ...descriptors];
  const child = spawn(command, args, { cwd: '/', detached: true, env, stdio });
  let running = true;
  let code: number | null = null;
  let failure: unknown;
  child.once('error', (error) => {
    [running, failure] = [false, error];
  });
  child.once('exit', (exitCode) => {
    [running, code] = [false, exitCode];
  });
  child.unref();
  await log.close();
  await close();
  const explain = async () => {
    const said = await readFrom(cluster.log, from);
    return code === 0 || held.test(said) ? undefined : explainFailure('PostgreSQL', failure, said);
  };
  return { pid: child.pid, isRunning: () => running, explain };
}

function serverArguments(
  cluster: Cluster,
  [folder = '', socketFolder = '']: readonly string[],
  settings: Readonly<Record<string, string>>,
): string[] {
  const fixed = {
    listen_addresses: '',
    port: String(cluster.port),
    // A list to PostgreSQL, in which a quoted name may hold commas.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    TimeZone: 'UTC',
    log_timezone: 'UTC',
  };
  const all = Object.entries({ ...settings, ...fixed });
  return ['-D', folder, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/**
 * After a crash the lock file's process id may be some other program's by now, which PostgreSQL can't tell and would
 * respect for ever. It excuses one id, meant for its starter's parent (miscinit.c, CreateLockFile); removing the file
 * instead could remove the lock of a server that has just started.
 */
async function excuseStaleLock(cluster: Cluster): Promise<Record<string, string>> {
  const pid = await lockedBy(cluster);
  return pid === undefined || (await isServer(cluster, pid)) ? {} : { PG_GRANDPARENT_PID: String(pid) };
}

async function openLog(cluster: Cluster): Promise<FileHandle> {
  // Nothing but a log of ours is written to.
  const flags = constants.O_CREAT | constants.O_APPEND | constants.O_RDWR | constants.O_NOFOLLOW;
  const log = await open(cluster.log, flags, 0o600).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'ELOOP' ? notOurs(cluster.log) : error;
  });
  const found = await log.stat();
  if (!found.isFile() || !isOurs(cluster, found.uid)) {
    await log.close();
    throw notOurs(cluster.log);
  }
  if (found.size > largestLog) await log.truncate();
  return log;
}

function notOurs(path: string): Error {
  return new Error(`${path} should be this user's own and was made by someone else: remove it.`);
}

/** Whether that user is the caller, or the one whom root runs the server as. */
function isOurs({ account }: Cluster, uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid() || uid === account?.uid;
}

async function readFrom(path: string, position: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(position, size - tailLength);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailLength), 0, tailLength, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The process id of the server that holds the cluster, if one does. */
export async function holder(cluster: Cluster): Promise<number | undefined> {
  const pid = await lockedBy(cluster);
  return pid !== undefined && (await isServer(cluster, pid)) ? pid : undefined;
}

async function lockedBy(cluster: Cluster): Promise<number | undefined> {
  const content = await unlessMissing(readFile(cluster.lockFile, 'utf8'));
  const pid = Number.parseInt(content ?? '', 10);
  return pid > 0 ? pid : undefined;
}

/**
 * Whether the process is a PostgreSQL of the cluster's own user: a lock file could name another's. A zombie isn't: under
 * a first process that never reaps, as in many containers, it stays for ever.
 */
async function isServer(cluster: Cluster, pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    // Gone, or another user's, whose process can't be the server of a cluster of ours.
    return false;
  }
  try {
    if (process.platform === 'linux') {
      const { uid } = await stat(`/proc/${String(pid)}`);
      return isOurs(cluster, uid) && /\(postgres\) [^ZX]/.test(await readFile(`/proc/${String(pid)}/stat`, 'utf8'));
    }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'uid=,stat=,comm=', '-p', String(pid)]);
    const [, uid = '', rest = ''] = /^\s*(\d+)\s+(.*)$/s.exec(stdout) ?? [];
    return isOurs(cluster, Number(uid)) && /^[^Z\s].*postgres/.test(rest);
  } catch {
    // Gone in between, or hidden: taken for a server it costs a moment, taken for none it could cost the data.
    return true;
  }
}

/**
 * Stops a server and waits until its process is gone.
 * @throws Error where it outlives every way of stopping it.
 */
export async function end(cluster: Cluster, pid: number): Promise<void> {
  for (const { signal, patience } of waysToStop) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    if (await isGone(cluster, pid, patience)) return;
  }
  throw new Error(`PostgreSQL (process ${String(pid)}) does not stop.`);
}

async function isGone(cluster: Cluster, pid: number, patience: number): Promise<boolean> {
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    if (!(await isServer(cluster, pid))) return true;
    await delay(10);
  }
  return false;
}
