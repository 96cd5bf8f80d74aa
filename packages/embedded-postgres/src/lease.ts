import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, PORT } from './cluster.js';
import { refusal, type Run } from './programs.js';
import { serverOf, type Settings, startServer, stopServer } from './server.js';

export const SUPERUSER = 'postgres';
/** "adop", as bytes. Every user of the server shares this advisory lock; whoever stops the server holds it alone. */
const LOCK = 0x61_64_6f_70;
/** A lease's application_name, before its process id. */
const LEASE = 'lease of ';
/** Milliseconds in which the server notices that a process has died. */
const DEATH_PATIENCE = 5_000;
/** Milliseconds without a sign of progress after which starting is given up. */
const QUIET_PATIENCE = 15_000;
const POLL_INTERVAL = 20;
/** Milliseconds between two tries to start a server on a cluster that another process holds. */
const HELD_INTERVAL = 200;
/** What PostgreSQL says where another server, or what is left of a killed one, holds the cluster (miscinit.c). */
const HELD = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;

/**
 * Joins the server's users, and starts the server where none runs. The lease is a connection, so a process that dies
 * gives it back.
 * @throws Error with one sentence, where the server can't be started or reached, or once the signal is aborted.
 */
export async function takeLease(cluster: Cluster, settings: Settings, signal: AbortSignal): Promise<pg.Client> {
  let lastSign = performance.now();
  let server: Run | undefined;
  for (;;) {
    const answer = await requestLease(cluster);
    if (answer instanceof pg.Client) return answer;
    const isStarting = server?.isRunning() === true;
    if (signal.aborted) {
      // No other process would stop a server that was only starting.
      if (isStarting && server?.pid !== undefined) await stopServer(cluster, server.pid);
      throw new Error('PostgreSQL is no longer wanted.');
    }
    if (isStarting || answer === 'busy') lastSign = performance.now();
    if (performance.now() - lastSign > QUIET_PATIENCE) throw await unreachable(cluster);
    if (answer === 'absent' && !isStarting) server = await startUnlessHeld(cluster, settings, server);
    await delay(POLL_INTERVAL);
  }
}

/** It is no failure where another process started a server first, or still stops one. */
async function startUnlessHeld(cluster: Cluster, settings: Settings, previous?: Run): Promise<Run | undefined> {
  const failure = await previous?.failure();
  if (failure !== undefined && !HELD.test(failure.message)) throw failure;
  if (previous !== undefined) await delay(HELD_INTERVAL);
  return (await serverOf(cluster)) === undefined ? startServer(cluster, settings) : undefined;
}

/** A lease, or why there is none: no server, one that can't give it now, or one that doesn't answer. */
async function requestLease({ socketFolder }: Cluster): Promise<pg.Client | 'absent' | 'busy' | 'mute'> {
  const application = `${LEASE}${String(process.pid)}`;
  const user = { user: SUPERUSER, database: SUPERUSER, application_name: application };
  const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 30_000 };
  const lease = new pg.Client({ host: socketFolder, port: PORT, ssl: false, ...user, ...timeouts });
  // Its loss shows as 'end'; without a listener 'error' would end the process.
  lease.on('error', () => undefined);
  try {
    await lease.connect();
    if (await isGranted(lease, 'pg_try_advisory_lock_shared')) return lease;
    await lease.end();
    return 'busy';
  } catch (error) {
    // Not awaited: a server that doesn't answer doesn't say goodbye either.
    void lease.end();
    const { code = '' } = error as { code?: string };
    // 57P01..3: going down, crashed, starting or stopping. 53xxx: out of connections or memory.
    if (code.startsWith('57P')) return 'busy';
    if (error instanceof pg.DatabaseError && !code.startsWith('53')) throw error;
    return code === 'ENOENT' || code === 'ECONNREFUSED' ? 'absent' : 'mute';
  }
}

async function isGranted(lease: pg.Client, lock: string): Promise<boolean> {
  const { rows } = await lease.query<{ granted: boolean }>(`SELECT ${lock}(${String(LOCK)}) AS granted`);
  return rows[0]?.granted === true;
}

async function unreachable(cluster: Cluster): Promise<Error> {
  const holder = `Process ${String((await serverOf(cluster)) ?? 'unknown')}`;
  const what = `${holder} holds the database in ${cluster.folder} but does not answer in ${cluster.socketFolder}`;
  return refusal(what, 'end it, remove postmaster.pid in that folder if no PostgreSQL runs there');
}

/** Gives the lease back, and stops the server where it was the last one. */
export async function endLease(cluster: Cluster, lease: pg.Client): Promise<void> {
  try {
    const server = (await isLast(lease)) ? await serverOf(cluster) : undefined;
    if (server !== undefined) await stopServer(cluster, server);
  } finally {
    await lease.end();
  }
}

async function isLast(lease: pg.Client): Promise<boolean> {
  const deadline = performance.now() + DEATH_PATIENCE;
  try {
    await isGranted(lease, 'pg_advisory_unlock_shared');
    for (;;) {
      // Before the lock is tried: a user that leaves in between would else be neither alive nor dead.
      const users = await lease.query<{ name: string }>(
        `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '${LEASE}%'`,
      );
      if (await isGranted(lease, 'pg_try_advisory_lock')) return true;
      // A living user stops the server itself. A dead one's lease is gone once the server has noticed.
      const hasDeadUser = users.rows.some(({ name }) => !isAlive(Number(name.slice(LEASE.length))));
      if (!hasDeadUser || performance.now() > deadline) return false;
      await delay(POLL_INTERVAL);
    }
  } catch {
    // The lease is gone with its connection, and mostly the server with it.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
