import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { prepareCluster } from './embedded-postgres-cluster.js';
import type { Cluster } from './embedded-postgres-cluster.js';
import { leave, superuser, takeLease } from './embedded-postgres-lease.js';

/** A PostgreSQL of the service's own, shared by all processes that opened the same data folder. */
export interface EmbeddedPostgres {
  /** Folder of the Unix socket, as pg's `host`. */
  readonly host: string;
  readonly port: number;
  readonly user: 'postgres';
  readonly database: 'adoption_store';
  /**
   * Leaves; the last user to leave stops the server, so connections must be closed before. Idempotent.
   * @throws Error where the server does not stop.
   */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Holds the database, its socket and its log (postgres.log); created where missing. */
  readonly dataDirectory: string;
  /** PostgreSQL settings, as `{ fsync: 'off' }`; they count for whoever starts the server, not for who finds it running. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told in a sentence when the server went away and when it is back. */
  readonly onEvent?: (message: string) => void;
}

const database = 'adoption_store';
/** Milliseconds before the second and later tries to start a lost server again; each wait doubles. */
const firstBackoff = 250;
const longestBackoff = 5_000;
/** Another process was faster: duplicate_database, or unique_violation in the middle of it. */
const createdByAnother = ['42P04', '23505'];

/**
 * Starts a PostgreSQL on the data folder, or joins the one that runs there. Until closed, a server that goes away is
 * started again at the same address.
 * @throws Error with one sentence for whoever starts the service, where no server can be had.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const settings = options.settings ?? {};
  const cluster = await prepareCluster(options.dataDirectory, settings['fsync'] !== 'off');
  const membership = new Membership(cluster, settings, options.onEvent ?? (() => undefined));
  try {
    await membership.join();
  } catch (error) {
    await membership.close();
    throw error;
  }
  return { host: cluster.socketFolder, port: cluster.port, user: superuser, database, close: () => membership.close() };
}

class Membership {
  private readonly closing = new AbortController();
  private lease: pg.Client | undefined;
  private recovery: Promise<void> = Promise.resolve();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly onEvent: (message: string) => void,
  ) {}

  async join(): Promise<void> {
    await ensureDatabase(await this.enter());
  }

  private async enter(): Promise<pg.Client> {
    const lease = await takeLease(this.cluster, this.settings, this.closing.signal);
    this.lease = lease;
    lease.once('end', () => {
      this.lease = undefined;
      if (!this.closing.signal.aborted) this.recovery = this.rejoin();
    });
    return lease;
  }

  close(): Promise<void> {
    this.closed ??= this.leave();
    return this.closed;
  }

  private async leave(): Promise<void> {
    this.closing.abort();
    await this.recovery;
    if (this.lease !== undefined) await leave(this.cluster, this.lease);
  }

  private async rejoin(): Promise<void> {
    this.onEvent('PostgreSQL went away; starting it again.');
    for (let backoff = firstBackoff; !this.closing.signal.aborted; backoff = Math.min(2 * backoff, longestBackoff)) {
      try {
        await this.enter();
        this.onEvent('PostgreSQL is back.');
        return;
      } catch (error) {
        await this.pause(backoff, error);
      }
    }
  }

  private async pause(backoff: number, error: unknown): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.onEvent(error instanceof Error ? error.message : String(error));
    // An abort is no failure here: the loop ends by itself.
    await delay(backoff, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
  if (rowCount === 1) return;
  try {
    // template0, as unlike template1 nobody can be connected to it, which would refuse the copy.
    await client.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && createdByAnother.includes(error.code ?? ''))) throw error;
  }
}
