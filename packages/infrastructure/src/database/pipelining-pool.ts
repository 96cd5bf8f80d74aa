import pg from 'pg';
import type { DataSource } from 'typeorm';
import { WriteSlots } from './write-slots.js';

/** Most queries in the pipeline of one connection. A slow query delays those behind it. */
const MOST_WAITING = 16;

/** Milliseconds for which the shared client is kept after its last query. Taking one costs as much as a short query. */
const KEPT_FOR = 50;

/** Milliseconds for which a client is shared. Then it is released, so the pool can close it at the end of its life. */
const SHARED_FOR = 1_000;

/** Milliseconds between two retirements, so that a server that stays read-only isn't flooded with new connections. */
const RETIRED_EVERY = 1_000;

/** Connections that writes leave free. A commit may hang for hours, and reads must not wait for it. */
const LEFT_FOR_READS = 2;

/**
 * Milliseconds of use after which a connection is given up: all work has a shorter time limit, so nobody waits for it.
 */
const LONGEST_USE = 3_000;

interface SharedClient {
  readonly client: Promise<pg.PoolClient>;
  /** Time of `performance.now()`. */
  readonly since: number;
  isConnected: boolean;
  users: number;
  hasFailed: boolean;
  /** While the client is unused, the timer that releases it. */
  timer?: NodeJS.Timeout;
}

export interface PipeliningPoolConfig extends pg.PoolConfig {
  /** Whether a pooler may give each transaction another session. If so, statements are unnamed, without a pipeline. */
  readonly poolsTransactions?: boolean | undefined;
  readonly lookUps?: pg.PoolConfig | undefined;
}

/** A pool in which concurrent reads share a client and its pipeline. */
export class PipeliningPool extends pg.Pool {
  #shared: SharedClient | undefined;
  readonly #open = new Set<pg.PoolClient>();
  /** The clients in use, and since when. */
  readonly #used = new Map<pg.PoolClient, number>();
  readonly #writes: WriteSlots;
  readonly #retired = new WeakSet<pg.ClientBase>();
  #retirement: NodeJS.Timeout | undefined;
  #isRetirementDue = false;
  /** Whether each transaction may have another session. */
  readonly poolsTransactions: boolean;
  /**
   * Reads what every request needs before it may begin, so that one tenant's requests, which use up this pool, don't
   * delay the others'. It is this pool itself if it has no connection for look-ups.
   */
  readonly lookUps: PipeliningPool;

  constructor(config?: PipeliningPoolConfig) {
    super(config);
    this.poolsTransactions = config?.poolsTransactions === true;
    const { max, connectionTimeoutMillis = LONGEST_USE } = this.options;
    const writes = Math.max(1, max - LEFT_FOR_READS);
    this.#writes = new WriteSlots(writes, connectionTimeoutMillis, () => this.givenUpCount >= writes);
    this.lookUps = config?.lookUps === undefined ? this : new PipeliningPool(config.lookUps);
    // A lost connection needs no report: the next query rejects.
    if (this.lookUps !== this) this.lookUps.on('error', () => undefined);
    this.on('connect', (client) => {
      this.#open.add(client);
      client.once('end', () => this.#open.delete(client));
    });
    this.on('acquire', (client) => this.#used.set(client, performance.now()));
    this.on('release', (_error, client) => {
      this.#used.delete(client);
      // The pool keeps no client that has been ended.
      if (this.#retired.has(client)) void client.end();
    });
  }

  get unusedCount(): number {
    return this.idleCount + (this.#shared?.users === 0 ? 1 : 0);
  }

  /** The number of callers that wait for a connection. */
  get pendingCount(): number {
    return this.waitingCount + this.#writes.waitingCount;
  }

  /** The number of connections whose work goes on although nobody waits for it any more. */
  get givenUpCount(): number {
    return this.#givenUp().length;
  }

  /**
   * Runs work that may write, and so may hang at its commit. Its connection stays in use until the server has answered
   * or ended it: a new connection in its place would be one more on the server, where the commit still waits.
   */
  write<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#writes.run(work);
  }

  /** Closes the connections that were given up. Call it only if no commit hangs on the server. */
  closeGivenUp(): void {
    for (const client of this.#givenUp()) client.connection.stream.destroy();
  }

  /** Closes every connection. What they do has as much time as any work; TypeORM doesn't wait for it. */
  override async end(callback?: () => void): Promise<void> {
    setTimeout(() => {
      for (const client of this.#open) client.connection.stream.destroy();
    }, LONGEST_USE).unref();
    await Promise.all([super.end(), this.lookUps === this ? undefined : this.lookUps.end()]);
    callback?.();
  }

  #givenUp(): readonly pg.PoolClient[] {
    const since = performance.now() - LONGEST_USE;
    return [...this.#used].filter(([, begun]) => begun < since).map(([client]) => client);
  }

  /**
   * Runs a query that only reads. Concurrent reads share a client; with a client each, they would take twice the
   * processor time. Writes don't share a client, because the queries behind one would wait for its commit.
   */
  read(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
    // In a pipeline PgBouncer may change the session between the parts of a query.
    return this.poolsTransactions ? this.query(sendable(query, this)) : this.#share(query);
  }

  async #share(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
    const shared = this.#join();
    try {
      const client = await shared.client;
      shared.isConnected = true;
      return await client.query(query);
    } catch (error) {
      shared.hasFailed = true;
      throw error;
    } finally {
      shared.users -= 1;
      const wasReplaced = this.#shared !== shared;
      if (shared.hasFailed || wasReplaced || this.#isWanted) {
        this.#end(shared);
      } else if (shared.users === 0) {
        // Kept for a while, because the next read can join without waiting.
        shared.timer = setTimeout(() => {
          this.#end(shared);
        }, KEPT_FOR);
      }
    }
  }

  /**
   * Closes every connection as soon as it is unused, at most once a second. Their server may have become a standby, and
   * new connections may reach the primary.
   */
  retire(): void {
    this.#isRetirementDue = this.#retirement !== undefined;
    if (this.#isRetirementDue) return;
    this.#retirement = setTimeout(() => {
      this.#retirement = undefined;
      if (this.#isRetirementDue) this.retire();
    }, RETIRED_EVERY).unref();
    if (this.lookUps !== this) this.lookUps.retire();
    for (const client of this.#used.keys()) this.#retired.add(client);
    if (this.#shared !== undefined) this.#end(this.#shared);
    this.dropUnused();
  }

  /** Closes the unused connections. When one connection is lost, others may be lost too without having noticed yet. */
  dropUnused(): void {
    if (this.#shared?.users === 0) {
      this.#shared.hasFailed = true;
      this.#end(this.#shared);
    }
    for (let idle = this.idleCount; idle > 0; idle -= 1) {
      void this.connect().then(
        (client) => {
          client.release(true);
        },
        () => undefined,
      );
    }
  }

  /** Whether another caller waits for a client. Sharing must end then, or that caller might wait for ever. */
  get #isWanted(): boolean {
    const own = this.#shared?.isConnected === false ? 1 : 0;
    return this.waitingCount > own || this.ending;
  }

  #join(): SharedClient {
    let shared = this.#shared;
    const now = performance.now();
    if (shared === undefined || shared.users >= MOST_WAITING || now > shared.since + SHARED_FOR || this.#isWanted) {
      if (shared !== undefined) this.#end(shared);
      shared = { client: this.connect(), since: now, isConnected: false, users: 0, hasFailed: false };
      this.#shared = shared;
    }
    clearTimeout(shared.timer);
    shared.users += 1;
    return shared;
  }

  /** Ends the sharing: no further query joins, and the last one releases the client. */
  #end(shared: SharedClient): void {
    if (this.#shared === shared) this.#shared = undefined;
    if (shared.users > 0) return;
    clearTimeout(shared.timer);
    shared.client.then(
      (client) => {
        client.release(shared.hasFailed);
      },
      // The callers have already received this error.
      () => undefined,
    );
  }
}

/** The data source's pool, which TypeORM created with its option `driver`. */
export function poolOf(dataSource: DataSource): PipeliningPool {
  return (dataSource.driver as unknown as { readonly master: PipeliningPool }).master;
}

/** The query, without its name if each transaction may have another session. */
export function sendable<Query extends pg.QueryConfig>(
  query: Query,
  { poolsTransactions }: Pick<PipeliningPool, 'poolsTransactions'>,
): Query | Omit<Query, 'name'> {
  if (!poolsTransactions) return query;
  const { name: _ofSession, ...unnamed } = query;
  return unnamed;
}
