import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** Milliseconds until a lost connection is opened again. */
const BACKOFF = 1_000;
/** Milliseconds for disconnecting. A frozen server doesn't confirm the end. */
const TIMEOUT = 2_000;

/** Longest life of a connection, which may stay with a server that its address no longer leads to. */
export const LONGEST_LIFE_SECONDS = 300;

export interface KeptConnectionConfig {
  /** Returns a new client, which isn't connected yet. */
  readonly createClient: () => Promise<pg.Client>;
  /** Called once for each connection, before its first check. */
  readonly onConnect?: ((client: pg.Client) => void) | undefined;
  /** Rejects if the connection is useless, for example because it leads to a standby. */
  readonly check: (client: pg.Client) => Promise<unknown>;
  /** Milliseconds between two checks. A server that has vanished is silent: it doesn't end its connections. */
  readonly every: number;
  /** Called after the first check of each connection. */
  readonly onOpen?: () => void;
}

/** A connection outside the pool. It is opened again whenever it is lost. */
export class KeptConnection {
  readonly #closing = new AbortController();
  #keeping: Promise<void> | undefined;
  #client: pg.Client | undefined;

  constructor(private readonly config: KeptConnectionConfig) {}

  /** The client, if its last check succeeded. */
  get client(): pg.Client | undefined {
    return this.#client;
  }

  /** Opens the connection, until `close`. Idempotent. */
  start(): void {
    if (!this.#closing.signal.aborted) this.#keeping ??= this.#keep();
  }

  /** Replaces the connection. */
  replace(): void {
    const client = this.#client;
    this.#client = undefined;
    // The next check fails.
    client?.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.replace();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const client = await this.config.createClient();
      // Without a listener, 'error' would end the process. `end` follows, or the failed call rejects.
      client.on('error', () => undefined);
      try {
        await client.connect();
        this.config.onConnect?.(client);
        await this.#use(client, signal);
      } catch {
        // The users of this connection can do without it.
      }
      this.#client = undefined;
      await Promise.race([client.end().catch(() => undefined), delay(TIMEOUT, undefined, { ref: false })]);
      // An abort isn't a failure here: the loop ends by itself.
      await delay(BACKOFF, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #use(client: pg.Client, signal: AbortSignal): Promise<void> {
    const ended = once(client, 'end', { signal });
    ended.catch(() => undefined);
    const last = performance.now() + LONGEST_LIFE_SECONDS * 1_000;
    for (let isFirst = true; performance.now() < last; isFirst = false) {
      await this.config.check(client);
      if (signal.aborted) return;
      if (isFirst) {
        this.#client = client;
        this.config.onOpen?.();
      }
      await Promise.race([ended, delay(this.config.every, undefined, { signal, ref: false })]);
    }
  }
}
