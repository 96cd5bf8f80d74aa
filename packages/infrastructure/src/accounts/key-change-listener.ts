import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountId, ApiKeyId } from '@adoption-store/domain';
import pg from 'pg';
import type { DatabaseConnection } from '../database/data-source.js';
import type { KeyChange } from './caching-api-key-repository.js';

const FIRST_BACKOFF = 250;
const LONGEST_BACKOFF = 5_000;
const PATIENCE = 2_000;

/**
 * Tells of every change of a key or an account, whoever made it, as the database's triggers notify of it. After each
 * gap, in which notifications are lost, it says that anything may have changed.
 */
export class KeyChangeListener {
  private readonly closing = new AbortController();
  private listening: Promise<void> | undefined;

  constructor(
    private readonly connection: DatabaseConnection,
    private readonly onChange: (change: KeyChange) => void,
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
    let backoff = FIRST_BACKOFF;
    while (!signal.aborted) {
      const client = this.newClient();
      try {
        await client.connect();
        await client.query('LISTEN key_changes');
        backoff = FIRST_BACKOFF;
        this.onChange({ anything: true });
        await once(client, 'end', { signal });
      } catch {
        // Nothing is lost but time: what notifications would have told is found out by asking.
      }
      await disconnect(client);
      // An abort is no failure here: the loop ends by itself.
      await delay(backoff, undefined, { signal, ref: false }).catch(() => undefined);
      backoff = Math.min(2 * backoff, LONGEST_BACKOFF);
    }
  }

  private newClient(): pg.Client {
    const { max: _max, ...where } = this.connection;
    const client = new pg.Client({
      ...where,
      application_name: 'adoption-store',
      connectionTimeoutMillis: PATIENCE,
      query_timeout: PATIENCE,
      keepAlive: true,
    });
    // Without a listener it would end the process; `end` follows, or the call that failed rejects.
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => {
      this.onChange(changeFrom(payload));
    });
    return client;
  }
}

async function disconnect(client: pg.Client): Promise<void> {
  // A server that has frozen doesn't say goodbye.
  await Promise.race([client.end().catch(() => undefined), delay(PATIENCE, undefined, { ref: false })]);
}

/** The trigger's words; of those that a later version may add it is known only that something has changed. */
function changeFrom(payload = ''): KeyChange {
  const [, what, id = ''] = /^(key|account) (\d+)$/.exec(payload) ?? [];
  if (what === 'key') return { key: BigInt(id) as ApiKeyId };
  return what === 'account' ? { account: BigInt(id) as AccountId } : { anything: true };
}
