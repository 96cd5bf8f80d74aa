import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Queries that wait for one connection at a time: a slow one holds up those behind it. */
const MOST_WAITING = 16;

interface Lease {
  readonly client: Promise<pg.PoolClient>;
  users: number;
  hasFailed: boolean;
}

/** A pool whose clients are also shared, to fill their pipelines. */
export class PipeliningPool extends pg.Pool {
  #lease: Lease | undefined;

  /**
   * Runs a query that only reads. Those that are sent at the same time share a client: a client for each takes the process
   * twice as long. What changes something would hold up the others until it is committed.
   */
  async read(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
    const lease = this.#join();
    try {
      const client = await lease.client;
      return await client.query(query);
    } catch (error) {
      lease.hasFailed = true;
      this.#end(lease);
      throw error;
    } finally {
      lease.users -= 1;
      if (lease.users === 0) this.#giveBack(lease);
    }
  }

  /** Closes the connections that nobody uses: what has ended one may have ended them, too, unheard as yet. */
  dropIdle(): void {
    for (let idle = this.idleCount; idle > 0; idle -= 1) {
      void this.connect().then(
        (client) => {
          client.release(true);
        },
        () => undefined,
      );
    }
  }

  #join(): Lease {
    let lease = this.#lease;
    // Were a client shared while others wait for one, they might wait for ever.
    if (lease === undefined || lease.users >= MOST_WAITING || this.waitingCount > 0) {
      lease = { client: this.connect(), users: 0, hasFailed: false };
      this.#lease = lease;
    }
    lease.users += 1;
    return lease;
  }

  #end(lease: Lease): void {
    if (this.#lease === lease) this.#lease = undefined;
  }

  #giveBack(lease: Lease): void {
    this.#end(lease);
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
