import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, PORT, prepareCluster } from './cluster.js';
import { refusal, type Run } from './programs.js';
import { isAlive, serverOf, type Settings, startServer, stopServer } from './server.js';

/** A PostgreSQL server, shared by all processes that open the same data folder. */
export interface EmbeddedPostgres {
  /** A value for DATABASE_URL: a Unix socket in a private folder. */
  readonly url: string;
  /**
   * Releases the server. The last process to do so stops it. Close every connection first. Idempotent.
   *
   * @throws Error if the server does not stop.
   */
  readonly close: () => Promise<void>;
}

const DATABASE = 'adoption_store';
const SUPERUSER = 'postgres';
/** "adop" in bytes. Every user of the server shares this advisory lock; the one that stops it holds it exclusively. */
const LOCK = 0x61_64_6f_70;
/** Prefix of a lease's application_name; the process id follows. */
const LEASE = 'lease of ';
/** Longest time, in milliseconds, until the server notices that a process has died. */
const DEATH_TIMEOUT = 5_000;
/** Milliseconds without progress after which a start is given up. */
const QUIET_TIMEOUT = 15_000;
const POLL_INTERVAL = 20;
/** Pause, in milliseconds, between attempts to start a server on a cluster that another process holds. */
const HELD_INTERVAL = 200;
/** PostgreSQL's message if another server, or a remaining process of a killed one, uses the cluster (miscinit.c). */
const HELD = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;
/** Pause, in milliseconds, between attempts to restart a lost server. */
const RETRY_INTERVAL = 1_000;
/** Another process created the database first: duplicate_database, or unique_violation during the creation. */
const CREATED_BY_ANOTHER = ['42P04', '23505'];

/**
 * Starts PostgreSQL on the data folder, or joins the one that runs there. Until `close`, a lost server is restarted.
 *
 * @param options.dataDirectory holds the database, its socket and its log (postgres.log). Created if it is missing.
 * @param options.settings apply if this process starts the server. A running server keeps its own.
 * @param options.onEvent receives a sentence when the server is lost and when it is back.
 * @throws Error with one sentence for the operator, if there is no server to use.
 */
export async function openEmbeddedPostgres(options: {
  readonly dataDirectory: string;
  readonly settings?: Settings;
  readonly onEvent?: (message: string) => void;
}): Promise<EmbeddedPostgres> {
  const { dataDirectory, settings = {}, onEvent = () => undefined } = options;
  const cluster = await prepareCluster(dataDirectory, settings['fsync'] !== 'off');
  const closing = new AbortController();
  let lease: pg.Client | undefined;
  let recovery = Promise.resolve();
  let closed: Promise<void> | undefined;

  async function join(): Promise<pg.Client> {
    lease = await takeLease(cluster, settings, closing.signal);
    lease.once('end', () => {
      lease = undefined;
      if (!closing.signal.aborted) recovery = rejoin();
    });
    return lease;
  }

  async function rejoin(): Promise<void> {
    onEvent('PostgreSQL went away; starting it again.');
    for (;;) {
      try {
        await join();
        onEvent('PostgreSQL is back.');
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        onEvent(error instanceof Error ? error.message : String(error));
        // An abort isn't a failure: the next attempt to join ends the loop.
        await delay(RETRY_INTERVAL, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  async function leave(): Promise<void> {
    closing.abort();
    await recovery;
    // Kept in a variable, because stopping the server ends the connection and clears the field.
    const held = lease;
    if (held === undefined) return;
    try {
      if (await isLast(held)) await stopServer(cluster, await serverOf(cluster));
    } finally {
      await held.end();
    }
  }

  const close = () => (closed ??= leave());
  try {
    await ensureDatabase(await join());
  } catch (error) {
    await close();
    throw error;
  }
  const address = new URLSearchParams({ host: cluster.socketFolder, port: String(PORT), user: SUPERUSER });
  return { url: `postgres:///${DATABASE}?${address.toString()}`, close };
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
  if (rowCount === 1) return;
  try {
    // template0, because other connections to template1 would make the copy fail.
    await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && CREATED_BY_ANOTHER.includes(error.code ?? ''))) throw error;
  }
}

/**
 * Registers as a user of the server, and starts it if none runs. The lease is a connection, so a death releases it.
 *
 * @throws Error with one sentence if the server can't be started or reached, or if the signal is aborted.
 */
async function takeLease(cluster: Cluster, settings: Settings, signal: AbortSignal): Promise<pg.Client> {
  let lastSign = performance.now();
  let server: Run | undefined;
  for (;;) {
    const answer = await requestLease(cluster);
    if (answer instanceof pg.Client) return answer;
    const isStarting = server?.isRunning() === true;
    if (signal.aborted) {
      // No other process would stop a server that is still starting.
      if (isStarting) await stopServer(cluster, server?.pid);
      throw new Error('PostgreSQL is no longer wanted.');
    }
    if (isStarting || answer === 'busy') lastSign = performance.now();
    if (performance.now() - lastSign > QUIET_TIMEOUT) {
      const holder = `Process ${(await serverOf(cluster)) ?? 'unknown'}`;
      const what = `${holder} holds the database in ${cluster.folder} but does not answer in ${cluster.socketFolder}`;
      throw refusal(what, 'end it, remove postmaster.pid in that folder if no PostgreSQL runs there');
    }
    if (answer === 'absent' && !isStarting) {
      const failure = await server?.failure();
      // Not a failure if another process started a server first, or is still stopping one.
      if (failure !== undefined && !HELD.test(failure.message)) throw failure;
      if (server !== undefined) await delay(HELD_INTERVAL);
      server = (await serverOf(cluster)) === undefined ? await startServer(cluster, settings) : undefined;
    }
    await delay(POLL_INTERVAL);
  }
}

/** A lease, or the reason for none: no server, a server that can't give one now, or one that doesn't answer. */
async function requestLease({ socketFolder }: Cluster): Promise<pg.Client | 'absent' | 'busy' | 'mute'> {
  const application = `${LEASE}${process.pid}`;
  const user = { user: SUPERUSER, database: SUPERUSER, application_name: application };
  const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 30_000 };
  const lease = new pg.Client({ host: socketFolder, port: PORT, ssl: false, ...user, ...timeouts });
  // A lost lease is reported by 'end'. Without a listener, 'error' would end the process.
  lease.on('error', () => undefined);
  try {
    await lease.connect();
    if (await isGranted(lease, 'pg_try_advisory_lock_shared')) return lease;
    await lease.end();
    return 'busy';
  } catch (error) {
    // Not awaited: a server that doesn't answer doesn't confirm the end either.
    void lease.end();
    const { code = '' } = error as { code?: string };
    // 57P01..3: going down, crashed, starting or stopping. 53xxx: out of connections or memory.
    if (code.startsWith('57P')) return 'busy';
    if (error instanceof pg.DatabaseError && !code.startsWith('53')) throw error;
    return code === 'ENOENT' || code === 'ECONNREFUSED' ? 'absent' : 'mute';
  }
}

async function isGranted(lease: pg.Client, lock: string): Promise<boolean> {
  const { rows } = await lease.query<{ granted: boolean }>(`SELECT ${lock}(${LOCK}) AS granted`);
  return rows[0]?.granted === true;
}

/** Releases the lease and returns whether it was the last. If it was, no other process can take one from now on. */
async function isLast(lease: pg.Client): Promise<boolean> {
  const deadline = performance.now() + DEATH_TIMEOUT;
  try {
    await isGranted(lease, 'pg_advisory_unlock_shared');
    for (;;) {
      // The list is read before the lock is tried: a user that leaves in between would hold it, but be missing from the
      // list.
      const users = await lease.query<{ name: string }>(
        `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '${LEASE}%'`,
      );
      if (await isGranted(lease, 'pg_try_advisory_lock')) return true;
      // A living process stops the server when it leaves. A dead one's lease disappears once the server has noticed.
      const hasDeadUser = users.rows.some(({ name }) => !isAlive(Number(name.slice(LEASE.length))));
      if (!hasDeadUser || performance.now() > deadline) return false;
      await delay(POLL_INTERVAL);
    }
  } catch {
    // The connection ended, and the lease with it. The server has mostly ended too.
    return false;
  }
}
