import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Queries that wait for one connection at a time: a slow one holds up those behind it. */
const MOST_WAITING = 16;

/** Milliseconds that a client is kept after its last query: taking one from the pool costs as much as a short query. */
const KEPT_FOR = 50;

interface SharedClient {
  readonly client: Promise<pg.PoolClient>;
  isConnected: boolean;
  users: number;
  hasFailed: boolean;
  /** While nobody uses it, what gives it back. */
  timer?: NodeJS.Timeout;
}

/** A pool whose clients are also shared, to fill their pipelines. */
export class PipeliningPool extends pg.Pool {
  #shared: SharedClient | undefined;

  /** Connections that nobody uses. */
  get unusedCount(): number {
    return this.idleCount + (this.#shared?.users === 0 ? 1 : 0);
  }

  /**
   * Runs a query that only reads. Those that are sent at the same time share a client: a client for each takes the process
   * twice as long. What changes something would hold up the others until it is committed.
   */
  async read(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
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
      if (shared.hasFailed || this.#shared !== shared || this.#isWanted) this.#end(shared);
      else if (shared.users === 0)
        shared.timer = setTimeout(() => {
          this.#end(shared);
        }, KEPT_FOR);
    }
  }

  /** Closes the connections that nobody uses: what has ended one may have ended them, too, unheard as yet. */
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

  /** Whether somebody else waits for a client: for ever, were each one shared on and on. */
  get #isWanted(): boolean {
    const own = this.#shared?.isConnected === false ? 1 : 0;
    return this.waitingCount > own || this.ending;
  }

  #join(): SharedClient {
    let shared = this.#shared;
    if (shared === undefined || shared.users >= MOST_WAITING || this.#isWanted) {
      if (shared !== undefined) this.#end(shared);
      shared = { client: this.connect(), isConnected: false, users: 0, hasFailed: false };
      this.#shared = shared;
    }
    clearTimeout(shared.timer);
    shared.users += 1;
    return shared;
  }

  /** Nobody joins it anymore; its last user gives the client back. */
  #end(shared: SharedClient): void {
    if (this.#shared === shared) this.#shared = undefined;
    if (shared.users > 0) return;
    clearTimeout(shared.timer);
    shared.client.then(
      (client) => {
        client.release(shared.hasFailed);
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
