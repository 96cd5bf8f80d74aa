import { reasonOf } from '@adoption-store/domain';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Milliseconds for a connection to one of the servers, and for its answer: a server that has vanished is silent. */
const ANSWER_WITHIN = 500;

/** Milliseconds in which a lookup isn't repeated, because the API's health check is open to everybody. */
const PAUSE = 200;

/** Lookups of a process that starts. It is busy itself, so an answer may seem to be late. */
const STARTING_LOOKUPS = 3;

/**
 * The servers of a database with several, of which one is the primary. Clients connect to the one that accepted writes
 * at the last lookup.
 */
export class Servers {
  /** For the pool's option of that name: a pool makes each client from the same options, so they can't name a server. */
  readonly Client: new (config?: pg.ClientConfig) => pg.Client;
  readonly #listeners: (() => void)[] = [];
  #primary: string;
  #lookup: Promise<void> | undefined;

  /** @param urls a URL for each server; of several primaries the first is used. */
  constructor(
    private readonly urls: readonly [string, ...string[]],
    private readonly pause = PAUSE,
  ) {
    this.#primary = urls[0];
    const create = (config?: pg.ClientConfig) =>
      new pg.Client({ ...config, connectionString: this.#primary, connectionTimeoutMillis: ANSWER_WITHIN });
    // Not a subclass: `new` also gives what a function returns.
    this.Client = function Client(config?: pg.ClientConfig) {
      return create(config);
    } as unknown as Servers['Client'];
  }

  /** The URL of the server that was the primary at the last lookup that found one. */
  get primary(): string {
    return this.#primary;
  }

  /** Calls the listener whenever another server has become the primary. */
  onMove(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Looks for the primary. Concurrent callers share a lookup. While the former one accepts writes it stays the primary,
   * whatever other servers say.
   *
   * @throws Error if no server accepts writes.
   */
  find(): Promise<void> {
    return (this.#lookup ??= this.#look().finally(() => {
      setTimeout(() => {
        this.#lookup = undefined;
      }, this.pause).unref();
    }));
  }

  /** Like `find`, for a process that starts: it looks several times. */
  async findAtStart(): Promise<void> {
    for (let lookups = 1; ; lookups += 1) {
      try {
        await this.find();
        return;
      } catch (error) {
        if (lookups === STARTING_LOOKUPS) throw error;
      }
      await delay(this.pause);
    }
  }

  async #look(): Promise<void> {
    const urls = [this.#primary, ...this.urls.filter((url) => url !== this.#primary)];
    // All at once, because each may be silent.
    const faults = urls.map(faultOf);
    for (const [index, url] of urls.entries()) {
      if ((await faults[index]) !== undefined) continue;
      this.#primary = url;
      if (index > 0) for (const listener of this.#listeners) listener();
      return;
    }
    const reasons = (await Promise.all(faults)).map((fault, index) => `${serverName(urls[index] ?? '')}: ${fault}`);
    throw new Error(`none of its servers accepts writes (${reasons.join('; ')})`);
  }
}

/** Returns the reason why a server can't be the primary, or undefined. */
async function faultOf(connectionString: string): Promise<string | undefined> {
  const limits = { connectionTimeoutMillis: ANSWER_WITHIN, query_timeout: ANSWER_WITHIN };
  const client = new pg.Client({ connectionString, application_name: 'adoption-store', ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await requirePrimary(client);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    // A frozen server doesn't confirm the end.
    void client.end().catch(() => undefined);
  }
}

/** @throws Error if the server is a standby, or set to read-only. */
export async function requirePrimary(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ state: string }>(`SELECT current_setting('transaction_read_only') AS state`);
  if (rows[0]?.state !== 'off') throw new Error('it only reads');
}

/** The host and the port, without the user and the password. */
export function serverName(connectionString: string): string {
  const { host, port } = new pg.Client(connectionString);
  return `${host}:${port}`;
}
