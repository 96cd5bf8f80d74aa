import {
  type Backlog,
  type Claim,
  type Claimed,
  type DeliveryQueue,
  type Instant,
  instant,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { DatabaseConnection } from './data-source.js';
import { onDatabase, readFromDatabase } from './database-errors.js';
import { NotificationListener } from './notification-listener.js';
import { managerOf } from './transactions.js';

interface QueueTable {
  readonly table: string;
  /** The channel that its trigger notifies of each new row. */
  readonly channel: string;
  /** The columns of a claimed item besides its id and claim, from the tables `claimed` and `accounts`. */
  readonly columns: string;
}

/** A queue in a table: each queued row is a job. Subclasses insert their rows and read their columns. */
export abstract class PostgresDeliveryQueue<Id extends string, Item extends Claimed<Id>, Row> implements DeliveryQueue<
  Id,
  Item
> {
  private readonly listeners: NotificationListener[] = [];

  constructor(
    protected readonly dataSource: DataSource,
    private readonly connection: DatabaseConnection,
    private readonly queue: QueueTable,
  ) {}

  async claim({ limit, now, until }: Parameters<DeliveryQueue<Id, Item>['claim']>[0]): Promise<readonly Item[]> {
    const rows = await onDatabase(() =>
      managerOf(this.dataSource).query<Row[]>(claimFrom(this.queue), [new Date(now), new Date(until), limit]),
    );
    return rows.map((row) => this.itemFrom(row));
  }

  async markSent(id: Id): Promise<void> {
    const text = `UPDATE ${this.queue.table} SET status = 'sent' WHERE id = $1`;
    await onDatabase(() => managerOf(this.dataSource).query(text, [id]));
  }

  async postpone(claim: Claim<Id>, dueAt: Instant): Promise<void> {
    await this.end(claim, 'due_at = $3, failures = failures + 1', [new Date(dueAt)]);
  }

  async release(claim: Claim<Id>, now: Instant): Promise<void> {
    await this.end(claim, 'due_at = $3', [new Date(now)]);
  }

  async markFailed(claim: Claim<Id>): Promise<void> {
    await this.end(claim, `status = 'failed'`);
  }

  async backlog(): Promise<Backlog> {
    const text = `
      SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM ${this.queue.table} WHERE status = 'queued'`;
    const [row] = await readFromDatabase(this.dataSource, () =>
      managerOf(this.dataSource).query<[{ queued: number; oldest: Date | null }]>(text),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  /** Each watcher has its own connection, so a process that only adds items has none. */
  watch(onQueued: () => void): () => Promise<void> {
    const listener = new NotificationListener(this.connection, this.queue.channel, onQueued);
    this.listeners.push(listener);
    listener.start();
    return () => listener.close();
  }

  /** Stops all watchers. */
  async close(): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener.close()));
  }

  protected abstract itemFrom(row: Row): Item;

  /** Changes the claimed row, unless a later claim exists. */
  protected async end({ id, number }: Claim<Id>, change: string, values: readonly unknown[] = []): Promise<void> {
    const text = `UPDATE ${this.queue.table} SET ${change} WHERE id = $1 AND claims = $2 AND status = 'queued'`;
    await onDatabase(() => managerOf(this.dataSource).query(text, [id, number, ...values]));
  }
}

/**
 * `due_at` moves to the end of the claim, so that no other worker takes the item; the number of claims distinguishes a
 * claim from a later one. Rows that another worker is claiming are skipped.
 */
function claimFrom({ table, columns }: QueueTable): string {
  return `
    WITH due AS (
      SELECT id, due_at FROM ${table}
      WHERE status = 'queued' AND due_at <= $1
      ORDER BY due_at LIMIT $3
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE ${table} SET claims = claims + 1, due_at = $2
      FROM due WHERE ${table}.id = due.id
      RETURNING ${table}.*, due.due_at AS was_due_at
    )
    SELECT claimed.id, claims AS number, failures, ${columns}
    FROM claimed JOIN accounts ON accounts.id = account_id
    ORDER BY was_due_at`;
}
