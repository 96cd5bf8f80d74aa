import { onDatabase, readFromDatabase } from '../database/on-database.js';
import {
  type Backlog,
  type Claim,
  type Claimed,
  type DeliveryQueue,
  instant,
  MOST_COUNTED,
  type Transaction,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { DelayedWork } from '../database/delayed-work.js';
import { NotificationListener } from '../database/notification-listener.js';
import { afterCommit, writeToDatabase } from '../database/transactions.js';

/** Milliseconds. New items within this time share a notification. */
const NOTIFY_EVERY = 10;

/** SQL for a parameter in milliseconds as an interval. */
const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;

interface QueueTable {
  readonly table: string;
  /** The channel on which new items are notified. */
  readonly channel: string;
  /** SQL for the columns of a claimed item, from the tables `claimed` and `accounts`, without its id and claim. */
  readonly columns: string;
}

/**
 * A queue in a table: each queued row is a job. Subclasses insert the rows and read their columns. Only PostgreSQL's
 * `now()` decides what is due.
 */
export abstract class PostgresDeliveryQueue<Id extends string, Item extends Claimed<Id>, Row> implements DeliveryQueue<
  Id,
  Item
> {
  private readonly listeners: NotificationListener[] = [];
  private readonly notifications = new DelayedWork(() => this.notify(), NOTIFY_EVERY);
  private hasQueued = false;

  constructor(
    protected readonly dataSource: DataSource,
    private readonly connection: DatabaseConnection,
    private readonly queue: QueueTable,
  ) {}

  async claim({ limit, lease }: Parameters<DeliveryQueue<Id, Item>['claim']>[0]): Promise<readonly Item[]> {
    const rows = await writeToDatabase(this.dataSource, (manager) =>
      manager.query<Row[]>(claimFrom(this.queue), [lease, limit]),
    );
    return rows.map((row) => this.itemFrom(row));
  }

  async markSent(id: Id): Promise<void> {
    const text = `UPDATE ${this.queue.table} SET status = 'sent' WHERE id = $1`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id]));
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    await this.end(claim, `due_at = now() + ${milliseconds('$3')}, failures = failures + 1`, [pause]);
  }

  async release(claim: Claim<Id>): Promise<void> {
    await this.end(claim, 'due_at = now()');
  }

  async markFailed(claim: Claim<Id>): Promise<void> {
    await this.end(claim, `status = 'failed'`);
  }

  async backlog(): Promise<Backlog> {
    // ORDER BY makes PostgreSQL use an index, so that it reads only the counted rows.
    const text = `
      SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM (
        SELECT created_at FROM ${this.queue.table} WHERE status = 'queued' ORDER BY due_at LIMIT ${MOST_COUNTED}
      ) AS longest_due`;
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ queued: number; oldest: Date | null }]>(text),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  /** Each watcher has its own connection, so a process that only adds items has none. */
  watch(onQueued: () => void): () => Promise<void> {
    const listener = new NotificationListener(this.connection, this.queue.channel, onQueued);
    this.listeners.push(listener);
    return () => listener.close();
  }

  /** Stops all watchers. The data source must still be open. */
  async close(): Promise<void> {
    await Promise.all([this.notifications.close(), ...this.listeners.map((listener) => listener.close())]);
  }

  protected abstract itemFrom(row: Row): Item;

  /**
   * Notifies all watchers soon after the new item is committed. A trigger would notify within the transaction, and
   * PostgreSQL commits such transactions one at a time.
   */
  protected announce(transaction?: Transaction): void {
    afterCommit(() => {
      this.hasQueued = true;
      this.notifications.soon();
    }, transaction);
  }

  /** Changes the claimed row, unless a later claim exists. */
  protected async end({ id, number }: Claim<Id>, change: string, values: readonly unknown[] = []): Promise<void> {
    const text = `UPDATE ${this.queue.table} SET ${change} WHERE id = $1 AND claims = $2 AND status = 'queued'`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id, number, ...values]));
  }

  private async notify(): Promise<void> {
    if (!this.hasQueued) return;
    this.hasQueued = false;
    // A lost notification costs only time, because workers also look at the queue themselves.
    await onDatabase(() => this.dataSource.query(`NOTIFY ${this.queue.channel}`)).catch(() => undefined);
  }
}

/**
 * `due_at` moves to the end of the claim, so that no other worker takes the item. The number of claims tells a claim from
 * later ones. Rows that another worker is claiming are skipped.
 */
function claimFrom({ table, columns }: QueueTable): string {
  return `
    WITH due AS (
      SELECT id, due_at FROM ${table}
      WHERE status = 'queued' AND due_at <= now()
      ORDER BY due_at LIMIT $2
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE ${table} SET claims = claims + 1, due_at = now() + ${milliseconds('$1')}
      FROM due WHERE ${table}.id = due.id
      RETURNING ${table}.*, due.due_at AS was_due_at
    )
    SELECT claimed.id, claims AS number, failures, ${columns}
    FROM claimed JOIN accounts ON accounts.id = account_id
    ORDER BY was_due_at`;
}
