import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cluster } from './embedded-postgres-cluster.js';
import { end, holder, launch } from './embedded-postgres-server.js';
import type { Launch } from './embedded-postgres-server.js';

export const superuser = 'postgres';

/** What a server answers to one who would use it: here it is, there is none, not now, or nothing that makes sense. */
type Answer =
  | { readonly state: 'leased'; readonly lease: pg.Client }
  | { readonly state: 'absent' | 'busy' | 'mute'; readonly cause?: unknown };

/** "adop", as bytes: everyone who uses the server shares this lock, and who stops it holds it alone. */
const leaseKey = 0x61_64_6f_70;
/** Names the connection, before its process. */
const leaseName = 'lease of ';
/** Milliseconds that the server may take to notice that a process has died. */
const deathPatience = 5_000;
/** Milliseconds without any sign of progress after which starting is given up. */
const quietPatience = 15_000;
/** Milliseconds for a start altogether, recovery after a crash included. */
const totalPatience = 120_000;
const pollInterval = 20;
/** Milliseconds between two tries to start where the first found the cluster held. */
const heldInterval = 200;

/**
 * Joins the server's users, starting the server where none runs. The lease is the connection: whoever dies gives it
 * back, by the death itself.
 * @throws Error with one sentence, where the server can't be started or reached, or once the signal is aborted.
 */
export async function takeLease(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<pg.Client> {
  const begin = performance.now();
  let lastSign = begin;
  let launched: Launch | undefined;
  for (;;) {
    const answer = await ask(cluster);
    if (answer.state === 'leased') return answer.lease;
    const now = performance.now();
    const isStarting = launched?.isRunning() === true;
    if (answer.state === 'busy') lastSign = now;
    if (signal.aborted) throw await abandon(cluster, launched);
    const isHopeless = !isStarting && now - lastSign > quietPatience;
    if (isHopeless || now - begin > totalPatience) throw await unreachable(cluster, answer.cause);
    if (answer.state === 'absent' && !isStarting) launched = await relaunch(cluster, settings, launched);
    await delay(pollInterval);
  }
}

/** Nobody needs to be told of a start that lost against another's, or of a server that another already stopped. */
async function relaunch(
  cluster: Cluster,
  settings: Readonly<Record<string, string>>,
  previous: Launch | undefined,
): Promise<Launch | undefined> {
  if (previous !== undefined) {
    const failure = await previous.explain();
    if (failure !== undefined) throw failure;
    await delay(heldInterval);
    return undefined;
  }
  return (await holder(cluster)) === undefined ? launch(cluster, settings) : undefined;
}

async function ask(cluster: Cluster): Promise<Answer> {
  const lease = new pg.Client({
    host: cluster.socketFolder,
    port: cluster.port,
    user: superuser,
    database: superuser,
    application_name: `${leaseName}${String(process.pid)}`,
    ssl: false,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
  });
  // Its loss shows as 'end'; without a listener 'error' would end the process.
  lease.on('error', () => undefined);
  try {
    await lease.connect();
    const { rows } = await lease.query<{ granted: boolean }>(
      `SELECT pg_try_advisory_lock_shared(${String(leaseKey)}) AS granted`,
    );
    if (rows[0]?.granted === true) return { state: 'leased', lease };
    await lease.end();
    return { state: 'busy' };
  } catch (cause) {
    // Not awaited: a server that doesn't answer doesn't say goodbye either.
    void lease.end();
    return { state: stateBehind(cause), cause };
  }
}

function stateBehind(error: unknown): 'absent' | 'busy' | 'mute' {
  const code = (error as { code?: string }).code ?? '';
  // 57P01..3: going down, crashed, starting or stopping. 53xxx: out of connections or memory.
  if (code.startsWith('57P') || code.startsWith('53')) return 'busy';
  if (error instanceof pg.DatabaseError) throw error;
  return code === 'ENOENT' || code === 'ECONNREFUSED' ? 'absent' : 'mute';
}

/** A server that was only starting for one who no longer wants it has no other to stop it. */
async function abandon(cluster: Cluster, launched: Launch | undefined): Promise<Error> {
  if (launched?.isRunning() && launched.pid !== undefined) await end(cluster, launched.pid);
  return new Error('PostgreSQL is no longer wanted.');
}

async function unreachable(cluster: Cluster, cause: unknown): Promise<Error> {
  const pid = await holder(cluster);
  const what = pid === undefined ? 'Something' : `Process ${String(pid)}`;
  const remedy = `end it, remove ${cluster.lockFile} if no PostgreSQL runs there, or set DATABASE_URL`;
  return new Error(
    `${what} holds the database in ${cluster.folder} but does not answer in ${cluster.socketFolder}: ${remedy}.`,
    { cause },
  );
}

/** Gives the lease back, and stops the server where it was the last. */
export async function leave(cluster: Cluster, lease: pg.Client): Promise<void> {
  try {
    const server = (await isLast(lease)) ? await holder(cluster) : undefined;
    if (server !== undefined) await end(cluster, server);
  } finally {
    await lease.end();
  }
}

async function isLast(lease: pg.Client): Promise<boolean> {
  try {
    await lease.query(`SELECT pg_advisory_unlock_shared(${String(leaseKey)})`);
    const begin = performance.now();
    for (;;) {
      // Looked for before the lock is tried: the other way round one that goes in between is neither alone nor dead.
      const hadDeadUser = await hasDeadUser(lease);
      const { rows } = await lease.query<{ alone: boolean }>(
        `SELECT pg_try_advisory_lock(${String(leaseKey)}) AS alone`,
      );
      if (rows[0]?.alone === true) return true;
      // Those that live stop it themselves. The lease of one that died is gone once the server has noticed.
      if (performance.now() - begin > deathPatience || !hadDeadUser) return false;
      await delay(pollInterval);
    }
  } catch {
    // With the connection the lease is gone, too, and with most servers that end so, the server.
    return false;
  }
}

async function hasDeadUser(lease: pg.Client): Promise<boolean> {
  const { rows } = await lease.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '${leaseName}%'`,
  );
  return rows.some(({ name }) => isDead(Number(name.slice(leaseName.length))));
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Another user's is alive.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
