import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Queries that wait for one connection at a time: a slow one holds up those behind it. */
const MOST_WAITING = 16;

/** Milliseconds that a client is kept after its last query: taking one from the pool costs as much as a short query. */
const KEPT_FOR = 50;

interface Lease {
  readonly client: Promise<pg.PoolClient>;
  isConnected: boolean;
  users: number;
  hasFailed: boolean;
  /** While nobody uses it, what gives it back. */
  timer?: NodeJS.Timeout;
}

/** A pool whose clients are also shared, to fill their pipelines. */
export class PipeliningPool extends pg.Pool {
  #lease: Lease | undefined;

  /** Connections that nobody uses. */
  get unusedCount(): number {
    return this.idleCount + (this.#lease?.users === 0 ? 1 : 0);
  }

  /**
   * Runs a query that only reads. Those that are sent at the same time share a client: a client for each takes the process
   * twice as long. What changes something would hold up the others until it is committed.
   */
  async read(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
    const lease = this.#join();
    try {
      const client = await lease.client;
      lease.isConnected = true;
      return await client.query(query);
    } catch (error) {
      lease.hasFailed = true;
      throw error;
    } finally {
      lease.users -= 1;
      if (lease.hasFailed || this.#lease !== lease || this.#isWanted) this.#end(lease);
      else if (lease.users === 0)
        lease.timer = setTimeout(() => {
          this.#end(lease);
        }, KEPT_FOR);
    }
  }

  /** Closes the connections that nobody uses: what has ended one may have ended them, too, unheard as yet. */
  dropUnused(): void {
    if (this.#lease?.users === 0) {
      this.#lease.hasFailed = true;
      this.#end(this.#lease);
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

  /** Whether somebody else waits for a client: for ever, were each one shared on and on. */
  get #isWanted(): boolean {
    const own = this.#lease?.isConnected === false ? 1 : 0;
    return this.waitingCount > own || this.ending;
  }

  #join(): Lease {
    let lease = this.#lease;
    if (lease === undefined || lease.users >= MOST_WAITING || this.#isWanted) {
      if (lease !== undefined) this.#end(lease);
      lease = { client: this.connect(), isConnected: false, users: 0, hasFailed: false };
      this.#lease = lease;
    }
    clearTimeout(lease.timer);
    lease.users += 1;
    return lease;
  }

  /** Nobody joins it anymore; its last user gives the client back. */
  #end(lease: Lease): void {
    if (this.#lease === lease) this.#lease = undefined;
    if (lease.users > 0) return;
    clearTimeout(lease.timer);
    lease.client.then(
      (client) => {
        client.release(lease.hasFailed);
      },
      // Those that wanted the client have been told.
      () => undefined,
    );
  }
}

/** The data source's pool, which TypeORM has made of its option `driver`. */
export function poolOf(dataSource: DataSource): PipeliningPool {
  return (dataSource.driver as unknown as { readonly master: PipeliningPool }).master;
}
