import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type DatabaseConnection, LONGEST_LIFE_SECONDS, newClient } from './data-source.js';

/** Milliseconds for each of connecting, listening and disconnecting. A frozen server never confirms a disconnect. */
const TIMEOUT = 2_000;
/** Milliseconds until a lost connection is opened again. */
const BACKOFF = 1_000;
/** Milliseconds between two checks of the connection: a server that has vanished doesn't close it. */
const CHECK = 5_000;

/**
 * Listens on a channel, on its own connection, until closed. The connection is opened again whenever it is lost.
 */
export class NotificationListener {
  readonly #closing = new AbortController();
  readonly #keeping: Promise<void>;

  /**
   * @param channel an SQL identifier.
   * @param onNotification called for each notification, and after each gap in which one may have been lost.
   * @param every milliseconds between two checks of the connection.
   */
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly channel: string,
    private readonly onNotification: () => void,
    private readonly every = CHECK,
  ) {
    this.#keeping = this.#keep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    const limits = { connectionTimeoutMillis: TIMEOUT, query_timeout: TIMEOUT };
    while (!signal.aborted) {
      const client = newClient(this.connection, { ...limits, keepAlive: true });
      // Without a listener, 'error' would end the process. The loss is noticed by `end` or by a call that rejects.
      client.on('error', () => undefined);
      client.on('notification', () => {
        this.#report();
      });
      try {
        await client.connect();
        await this.#listen(client, signal);
      } catch {
        // A missed notification costs only time, because workers also look at the queue themselves.
      }
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // close() aborts the delay, and the loop then ends.
      await delay(BACKOFF, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #listen(client: pg.Client, signal: AbortSignal): Promise<void> {
    const ended = once(client, 'end', { signal });
    ended.catch(() => undefined);
    const last = performance.now() + LONGEST_LIFE_SECONDS * 1_000;
    for (let isFirst = true; performance.now() < last; isFirst = false) {
      // On a standby this fails, so the connection is opened again.
      await client.query(`LISTEN ${this.channel}`);
      if (isFirst) this.#report();
      await Promise.race([ended, delay(this.every, undefined, { signal, ref: false })]);
    }
  }

  #report(): void {
    if (!this.#closing.signal.aborted) this.onNotification();
  }
}
