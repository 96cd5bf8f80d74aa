import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { PORT, prepareCluster } from './cluster.js';
import { endLease, SUPERUSER, takeLease } from './lease.js';
import type { Settings } from './server.js';

/** A PostgreSQL server, shared by all processes that opened the same data folder. */
export interface EmbeddedPostgres {
  /** What DATABASE_URL takes: a Unix socket in a private folder. */
  readonly url: string;
  /**
   * Leaves; the last user to leave stops the server. Close every connection before. Idempotent.
   * @throws Error where the server does not stop.
   */
  readonly close: () => Promise<void>;
}

const DATABASE = 'adoption_store';
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
    const taken = await takeLease(cluster, settings, closing.signal);
    lease = taken;
    taken.once('end', () => {
      lease = undefined;
      if (!closing.signal.aborted) recovery = rejoin();
    });
    return taken;
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
    if (lease !== undefined) await endLease(cluster, lease);
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
