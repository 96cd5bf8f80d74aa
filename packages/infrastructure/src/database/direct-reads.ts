import type pg from 'pg';
import { KeptConnection, type KeptConnectionConfig } from './kept-connection.js';
import { requirePrimary } from './servers.js';

/** Most queries in the pipeline of one connection: a slow query delays those behind it. */
export const MOST_WAITING = 16;

/** Milliseconds between two checks, like those of the readiness: reads on a standby may be old. */
const EVERY = 250;

/**
 * A connection past a pooler in transaction mode. Only there do reads keep their prepared statements and share a
 * pipeline.
 */
export class DirectReads {
  readonly #kept: KeptConnection;
  #waiting = 0;

  constructor({ createClient, onConnect }: Pick<KeptConnectionConfig, 'createClient' | 'onConnect'>) {
    this.#kept = new KeptConnection({ createClient, onConnect, check: requirePrimary, every: EVERY });
  }

  /** Runs a query that only reads. Returns undefined while the connection can't be used, or has too much to do. */
  read(query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> | undefined {
    this.#kept.start();
    const { client } = this.#kept;
    if (client === undefined || this.#waiting >= MOST_WAITING) return undefined;
    return this.#readOn(client, query);
  }

  /** Replaces the connection, because its server may not be the primary any more. */
  leave(): void {
    this.#kept.replace();
  }

  close(): Promise<void> {
    return this.#kept.close();
  }

  async #readOn(client: pg.Client, query: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> {
    this.#waiting += 1;
    try {
      return await client.query(query);
    } catch (error) {
      if (this.#kept.client === client) this.#kept.replace();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }
}
