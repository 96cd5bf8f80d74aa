import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type DatabaseConnection, LONGEST_LIFE_SECONDS, newClient } from './data-source.js';

/** Milliseconds until a lost connection is opened again. */
const BACKOFF = 1_000;
/** Timeout in milliseconds for connecting, for listening and for disconnecting. */
const TIMEOUT = 2_000;
/** Milliseconds between two checks of a connection. A server that has vanished is silent: it doesn't end its connections. */
const CHECK = 5_000;

/** Reports every notification on a channel, and every gap in which notifications may have been lost. */
export class NotificationListener {
  private readonly closing = new AbortController();
  private listening: Promise<void> | undefined;

  /**
   * @param channel an SQL identifier.
   * @param onNotification called with the payload, or with undefined after a gap.
   */
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly channel: string,
    private readonly onNotification: (payload: string | undefined) => void,
    private readonly check = CHECK,
  ) {}

  /** Starts listening, on its own connection, until closed. Idempotent. */
  start(): void {
    if (!this.closing.signal.aborted) this.listening ??= this.listen();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.listening;
  }

  private async listen(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await this.connection.servers?.find().catch(() => undefined);
      const client = this.newClient();
      try {
        await client.connect();
        await this.listenOn(client);
      } catch {
        // A missing notification costs only time: callers also look at the database themselves.
      }
      // A frozen server doesn't confirm the end.
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // An abort isn't a failure here: the loop ends by itself.
      await delay(BACKOFF, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Listens, and repeats it to learn whether the connection still leads to the primary: on a standby LISTEN fails. */
  private async listenOn(client: pg.Client): Promise<void> {
    const { signal } = this.closing;
    const ended = once(client, 'end', { signal });
    ended.catch(() => undefined);
    const end = performance.now() + LONGEST_LIFE_SECONDS * 1_000;
    for (let isFirst = true; performance.now() < end; isFirst = false) {
      await client.query(`LISTEN ${this.channel}`);
      if (isFirst) this.tell(undefined);
      await Promise.race([ended, delay(this.check, undefined, { signal, ref: false })]);
    }
  }

  private newClient(): pg.Client {
    const limits = { connectionTimeoutMillis: TIMEOUT, query_timeout: TIMEOUT };
    const client = newClient(this.connection, { ...limits, keepAlive: true });
    // Without a listener, 'error' would end the process. `end` follows, or the failed call rejects.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => {
      this.tell(payload);
    });
    return client;
  }

  private tell(payload: string | undefined): void {
    if (!this.closing.signal.aborted) this.onNotification(payload);
  }
}
