import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type DatabaseConnection, LONGEST_LIFE_SECONDS, newClient } from './data-source.js';

/** Milliseconds for connecting, listening and disconnecting. A frozen server doesn't confirm the end. */
const TIMEOUT = 2_000;
/** Milliseconds until a lost connection is opened again. */
const BACKOFF = 1_000;
/** Milliseconds between two checks of the connection. A server that has vanished is silent: it doesn't end it. */
const CHECK = 5_000;

/** Reports every notification on a channel, and every gap in which notifications may have been lost. */
export class NotificationListener {
  readonly #closing = new AbortController();
  #keeping: Promise<void> | undefined;

  /**
   * @param channel an SQL identifier.
   * @param onNotification called with the payload, or with undefined after a gap.
   */
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly channel: string,
    private readonly onNotification: (payload: string | undefined) => void,
    private readonly every = CHECK,
  ) {}

  /** Starts listening, on its own connection, until closed. Idempotent. */
  start(): void {
    if (!this.#closing.signal.aborted) this.#keeping ??= this.#keep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
  }

  /** Opens the connection again whenever it is lost. */
  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    const limits = { connectionTimeoutMillis: TIMEOUT, query_timeout: TIMEOUT };
    while (!signal.aborted) {
      const client = newClient(this.connection, { ...limits, keepAlive: true });
      // Without a listener, 'error' would end the process. `end` follows, or the failed call rejects.
      client.on('error', () => undefined);
      client.on('notification', ({ payload = '' }) => {
        this.#tell(payload);
      });
      try {
        await client.connect();
        await this.#listen(client, signal);
      } catch {
        // A missing notification costs only time: callers also look at the database themselves.
      }
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // An abort isn't a failure here: the loop ends by itself.
      await delay(BACKOFF, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #listen(client: pg.Client, signal: AbortSignal): Promise<void> {
    const ended = once(client, 'end', { signal });
    ended.catch(() => undefined);
    const last = performance.now() + LONGEST_LIFE_SECONDS * 1_000;
    for (let isFirst = true; performance.now() < last; isFirst = false) {
      // On a standby it fails.
      await client.query(`LISTEN ${this.channel}`);
      if (isFirst) this.#tell(undefined);
      await Promise.race([ended, delay(this.every, undefined, { signal, ref: false })]);
    }
  }

  #tell(payload: string | undefined): void {
    if (!this.#closing.signal.aborted) this.onNotification(payload);
  }
}
