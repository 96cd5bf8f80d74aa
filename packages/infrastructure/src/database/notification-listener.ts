import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseConnection } from './data-source.js';

/** Milliseconds until a lost connection is opened again. */
const BACKOFF = 1_000;
/** Timeout in milliseconds for connecting, for listening and for disconnecting. */
const TIMEOUT = 2_000;

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
      const client = this.newClient();
      try {
        await client.connect();
        await client.query(`LISTEN ${this.channel}`);
        this.tell(undefined);
        await once(client, 'end', { signal });
      } catch {
        // A missing notification costs only time: callers also look at the database themselves.
      }
      // A frozen server doesn't confirm the end.
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // An abort isn't a failure here: the loop ends by itself.
      await delay(BACKOFF, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private newClient(): pg.Client {
    const client = new pg.Client({
      ...this.connection,
      application_name: 'adoption-store',
      connectionTimeoutMillis: TIMEOUT,
      query_timeout: TIMEOUT,
      keepAlive: true,
    });
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
