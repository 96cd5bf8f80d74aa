import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseConnection } from './data-source.js';

/** Milliseconds after which a lost connection is made again. */
const BACKOFF = 1_000;
/** Milliseconds for connecting, for listening and for saying goodbye. */
const TIMEOUT = 2_000;

/** Tells of every notification on a channel, and after each gap, in which notifications are lost, that there was one. */
export class NotificationListener {
  private readonly closing = new AbortController();
  private listening: Promise<void> | undefined;

  /**
   * @param channel an SQL identifier.
   * @param onNotification given the payload, or undefined where any notification may have been missed.
   */
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly channel: string,
    private readonly onNotification: (payload: string | undefined) => void,
  ) {}

  /** Begins to listen, on a connection of its own, and goes on until closed. Idempotent. */
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
        // Nothing is lost but time: what notifications would have told is found out by asking.
      }
      // A server that has frozen doesn't say goodbye.
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // An abort is no failure here: the loop ends by itself.
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
    // Without a listener it would end the process; `end` follows, or the call that failed rejects.
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
