import { type DatabaseConnection, newClientOfPrimary } from './data-source.js';
import { KeptConnection } from './kept-connection.js';

/** Timeout in milliseconds for connecting and for listening. */
const TIMEOUT = 2_000;
/** Milliseconds between two checks of the connection. */
const CHECK = 5_000;

/** Reports every notification on a channel, and every gap in which notifications may have been lost. */
export class NotificationListener {
  readonly #kept: KeptConnection;
  #isClosed = false;

  /**
   * @param channel an SQL identifier.
   * @param onNotification called with the payload, or with undefined after a gap.
   */
  constructor(
    connection: DatabaseConnection,
    channel: string,
    onNotification: (payload: string | undefined) => void,
    every = CHECK,
  ) {
    const tell = (payload: string | undefined) => {
      if (!this.#isClosed) onNotification(payload);
    };
    this.#kept = new KeptConnection({
      async createClient() {
        const limits = { connectionTimeoutMillis: TIMEOUT, query_timeout: TIMEOUT };
        const client = await newClientOfPrimary(connection, { ...limits, keepAlive: true });
        client.on('notification', ({ payload = '' }) => {
          tell(payload);
        });
        return client;
      },
      // On a standby LISTEN fails.
      check: (client) => client.query(`LISTEN ${channel}`),
      every,
      // A missing notification costs only time: callers also look at the database themselves.
      onOpen: () => {
        tell(undefined);
      },
    });
  }

  /** Starts listening, on its own connection, until closed. Idempotent. */
  start(): void {
    this.#kept.start();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#kept.close();
  }
}
