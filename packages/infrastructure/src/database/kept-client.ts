import type pg from 'pg';
import { inTime } from './patience.js';
import type { Row, Statement } from './prepared-query.js';

/** As much of an ImpatientClient. */
interface Client extends pg.PoolClient {
  readonly isLost: boolean;
  queryPrepared(statement: Statement, values: string[], since: number): Promise<readonly Row[]>;
}

/** Milliseconds from one look at whether the client is still used to the next. */
const LOOK_EVERY = 50;

/**
 * One of a pool's clients, held between queries while there are many: asking the pool for one and giving it back would
 * take as long as the rest of a short query's way. Who comes while it is busy asks the pool.
 */
class KeptClient {
  private client: Client | undefined;
  private isUsed = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly pool: pg.Pool) {}

  /** Whether one is held that nobody uses. */
  get isIdle(): boolean {
    return this.client !== undefined;
  }

  query(statement: Statement, values: string[], since: number): Promise<readonly Row[]> {
    const client = this.take();
    return client === undefined
      ? inTime(this.queryPooled(statement, values, since), since)
      : this.queryOn(client, statement, values, since);
  }

  /** Closes the one that is held and that nobody uses. */
  drop(): void {
    this.client?.release(true);
    this.client = undefined;
  }

  private async queryPooled(statement: Statement, values: string[], since: number): Promise<readonly Row[]> {
    const client = (await this.pool.connect()) as Client;
    return this.queryOn(client, statement, values, since);
  }

  private async queryOn(
    client: Client,
    statement: Statement,
    values: string[],
    since: number,
  ): Promise<readonly Row[]> {
    try {
      return await client.queryPrepared(statement, values, since);
    } finally {
      this.keep(client);
    }
  }

  private take(): Client | undefined {
    const { client } = this;
    this.client = undefined;
    if (client?.isLost !== true) return client;
    client.release();
    return undefined;
  }

  private keep(client: Client): void {
    if (this.client !== undefined || client.isLost || isWanted(this.pool)) {
      client.release();
      return;
    }
    this.client = client;
    this.isUsed = true;
    this.timer ??= setInterval(() => {
      this.look();
    }, LOOK_EVERY);
  }

  /** Gives the client back that wasn't used for a while, or that others wait for. */
  private look(): void {
    const { client } = this;
    if (this.isUsed && !isWanted(this.pool)) {
      this.isUsed = false;
      return;
    }
    clearInterval(this.timer);
    this.timer = undefined;
    this.client = undefined;
    client?.release();
  }
}

function isWanted({ waitingCount, ending }: pg.Pool): boolean {
  return waitingCount > 0 || ending;
}

const kept = new WeakMap<pg.Pool, KeptClient>();

/** The pool's only one. */
export function keptOf(pool: pg.Pool): KeptClient {
  const known = kept.get(pool) ?? new KeptClient(pool);
  kept.set(pool, known);
  return known;
}
