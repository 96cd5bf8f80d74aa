import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, PORT, prepareCluster } from './cluster.js';
import { refusal, type Run } from './programs.js';
import { isAlive, serverOf, type Settings, startServer, stopServer } from './server.js';

/** A PostgreSQL server, shared by all processes that opened the same data folder. */
export interface EmbeddedPostgres {
  /** A value for DATABASE_URL: a Unix socket in a private folder. */
  readonly url: string;
  /**
   * Leaves; the last user to leave stops the server. Close every connection before. Idempotent.
   * @throws Error where the server does not stop.
   */
  readonly close: () => Promise<void>;
}

const DATABASE = 'adoption_store';
const SUPERUSER = 'postgres';
/** "adop", as bytes. Every user of the server shares this advisory lock; whoever stops the server holds it alone. */
const LOCK = 0x61_64_6f_70;
/** A lease's application_name, before its process id. */
const LEASE = 'lease of ';
/** Milliseconds in which the server notices that a process has died. */
const DEATH_TIMEOUT = 5_000;
/** Milliseconds without a sign of progress after which starting is given up. */
const QUIET_TIMEOUT = 15_000;
const POLL_INTERVAL = 20;
/** Milliseconds between two tries to start a server on a cluster that another process holds. */
const HELD_INTERVAL = 200;
/** PostgreSQL's message when another server, or the rest of a killed one, holds the cluster (miscinit.c). */
const HELD = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/;
/** Milliseconds between two tries to start a lost server again. */
const RETRY_INTERVAL = 1_000;
/** Another process was faster: duplicate_database, or unique_violation in the middle of it. */
const CREATED_BY_ANOTHER = ['42P04', '23505'];

/**
 * Starts a PostgreSQL on the data folder, or joins the one that runs there. Until it is closed, a server that goes away
 * is started again at the same address.
 * @param options.dataDirectory holds the database, its socket and its log (postgres.log); created where missing.
 * @param options.settings count where this process starts the server, not where it finds one running.
 * @param options.onEvent receives a sentence when the server went away and when it is back.
 * @throws Error with one sentence for the operator, where no server can be had.
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
        // An abort is no failure: the next join ends the loop.
        await delay(RETRY_INTERVAL, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  async function leave(): Promise<void> {
    closing.abort();
    await recovery;
    // Kept, as stopping the server ends the connection.
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
    // template0, as unlike template1 nobody can be connected to it, which would refuse the copy.
    await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && CREATED_BY_ANOTHER.includes(error.code ?? ''))) throw error;
  }
}

/**
 * Joins the server's users, and starts the server where none runs. The lease is a connection, so a process that dies
 * gives it back.
 * @throws Error with one sentence, where the server can't be started or reached, or once the signal is aborted.
 */
async function takeLease(cluster: Cluster, settings: Settings, signal: AbortSignal): Promise<pg.Client> {
  let lastSign = performance.now();
  let server: Run | undefined;
  for (;;) {
    const answer = await requestLease(cluster);
    if (answer instanceof pg.Client) return answer;
    const isStarting = server?.isRunning() === true;
    if (signal.aborted) {
      // No other process would stop a server that was only starting.
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
      // It is no failure where another process started a server first, or still stops one.
      if (failure !== undefined && !HELD.test(failure.message)) throw failure;
      if (server !== undefined) await delay(HELD_INTERVAL);
      server = (await serverOf(cluster)) === undefined ? await startServer(cluster, settings) : undefined;
    }
    await delay(POLL_INTERVAL);
  }
}

/** A lease, or why there is none: no server, one that can't give it now, or one that doesn't answer. */
async function requestLease({ socketFolder }: Cluster): Promise<pg.Client | 'absent' | 'busy' | 'mute'> {
  const application = `${LEASE}${process.pid}`;
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
  const { rows } = await lease.query<{ granted: boolean }>(`SELECT ${lock}(${LOCK}) AS granted`);
  return rows[0]?.granted === true;
}

/** Gives the lease back, and tells whether it was the last one. If so, nobody else can take one from here on. */
async function isLast(lease: pg.Client): Promise<boolean> {
  const deadline = performance.now() + DEATH_TIMEOUT;
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
