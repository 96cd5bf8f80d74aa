import { readFromDatabase } from '../database/on-database.js';
import {
  type Backlog,
  type Claim,
  type Claimed,
  type DeliveryQueue,
  instant,
  MOST_COUNTED,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { interval } from '../database/columns.js';
import { writeToDatabase } from '../database/transactions.js';

interface QueueTable {
  readonly table: string;
  /** SQL that claims at most $2 items for $1 milliseconds (`claimFrom`). */
  readonly claim: string;
}

/**
 * A queue in a table: each queued row is a job. Subclasses insert the rows and read their columns. Only PostgreSQL's
 * `now()` decides what is due.
 */
export abstract class PostgresDeliveryQueue<Id extends string, Item extends Claimed<Id>, Row> implements DeliveryQueue<
  Id,
  Item
> {
  constructor(
    protected readonly dataSource: DataSource,
    protected readonly queue: QueueTable,
  ) {}

  async claim({ limit, lease }: { readonly limit: number; readonly lease: number }): Promise<readonly Item[]> {
    const rows = await writeToDatabase(this.dataSource, (manager) =>
      manager.query<Row[]>(this.queue.claim, [lease, limit]),
    );
    return this.itemsFrom(rows);
  }

  async markSent(id: Id): Promise<void> {
    const text = `UPDATE ${this.queue.table} SET status = 'sent' WHERE id = $1`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id]));
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    await this.end(claim, `due_at = now() + ${interval('$3')}, failures = failures + 1`, [pause]);
  }

  async release(claim: Claim<Id>): Promise<void> {
    await this.end(claim, 'due_at = now()');
  }

  async markFailed(claim: Claim<Id>): Promise<void> {
    await this.end(claim, `status = 'failed'`);
  }

  async backlog(): Promise<Backlog> {
    const { table } = this.queue;
    // ORDER BY makes PostgreSQL use an index, so that it reads only the counted rows.
    const text = `
      SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM (
        SELECT created_at FROM ${table} WHERE status = 'queued' ORDER BY due_at LIMIT ${MOST_COUNTED}
      ) AS longest_due`;
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ queued: number; oldest: Date | null }]>(text),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  protected abstract itemsFrom(rows: readonly Row[]): readonly Item[];

  /** Changes the claimed row, unless a later claim exists. */
  protected async end({ id, number }: Claim<Id>, change: string, values: readonly unknown[] = []): Promise<void> {
    const { table } = this.queue;
    const text = `UPDATE ${table} SET ${change} WHERE id = $1 AND claims = $2 AND status = 'queued'`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id, number, ...values]));
  }
}

/**
 * `due_at` moves to the end of the claim, so that no other worker takes the item. The number of claims tells a claim from
 * later ones. Rows that another worker is claiming are skipped.
 *
 * @param columns of a claimed item, from the tables `claimed` and `accounts`, without its id and claim.
 */
export function claimFrom(table: string, columns: string): string {
  return `
    WITH due AS (
      SELECT id, due_at FROM ${table}
      WHERE status = 'queued' AND due_at <= now()
      ORDER BY due_at LIMIT $2
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE ${table} SET claims = claims + 1, due_at = now() + ${interval('$1')}
      FROM due WHERE ${table}.id = due.id
      RETURNING ${table}.*, due.due_at AS was_due_at
    )
    SELECT claimed.id, claims AS number, failures, ${columns}
    FROM claimed JOIN accounts ON accounts.id = account_id
    ORDER BY was_due_at`;
}
