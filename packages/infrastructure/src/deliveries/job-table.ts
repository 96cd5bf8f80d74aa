import { readFromDatabase } from '../database/on-database.js';
import { type Backlog, type Claim, type ClaimRequest, instant, MOST_COUNTED } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { interval } from '../database/columns.js';
import { writeToDatabase } from '../database/transactions.js';

/** A table in which each queued row is a job. Only PostgreSQL's `now()` decides which jobs are due. */
export class JobTable<Id extends string, Row> {
  /** @param columns of a claimed job, from the tables `claimed` and `accounts`, without its id and claim. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly table: string,
    private readonly columns: string,
  ) {}

  /**
   * Moves `due_at` to the end of the claim, so that no other worker takes the job. Counts the claims, so that an
   * earlier claim can be told from a later one. Rows that another worker is claiming are skipped.
   */
  async claim({ limit, lease }: ClaimRequest): Promise<readonly Row[]> {
    const text = `
      WITH due AS (
        SELECT id, due_at FROM ${this.table}
        WHERE status = 'queued' AND due_at <= now()
        ORDER BY due_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      ), claimed AS (
        UPDATE ${this.table} AS job SET claims = claims + 1, due_at = now() + ${interval('$1')}
        FROM due WHERE job.id = due.id
        RETURNING job.*, due.due_at AS was_due_at
      )
      SELECT claimed.id, claims AS number, failures, ${this.columns}
      FROM claimed JOIN accounts ON accounts.id = account_id
      ORDER BY was_due_at`;
    return writeToDatabase(this.dataSource, (manager) => manager.query<Row[]>(text, [lease, limit]));
  }

  async markSent(id: Id): Promise<void> {
    const text = `UPDATE ${this.table} SET status = 'sent' WHERE id = $1`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id]));
  }

  async postpone(claim: Claim<Id>, pause: number): Promise<void> {
    await this.change(claim, `due_at = now() + ${interval('$3')}, failures = failures + 1`, [pause]);
  }

  async release(claim: Claim<Id>): Promise<void> {
    await this.change(claim, 'due_at = now()');
  }

  async end(claim: Claim<Id>, status: 'failed' | 'dropped'): Promise<void> {
    await this.change(claim, `status = '${status}'`);
  }

  async backlog(): Promise<Backlog> {
    // ORDER BY makes PostgreSQL use an index, so that it reads only the counted rows.
    const text = `
      SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM (
        SELECT created_at FROM ${this.table} WHERE status = 'queued' ORDER BY due_at LIMIT ${MOST_COUNTED}
      ) AS longest_due`;
    const [row] = await readFromDatabase(this.dataSource, () =>
      this.dataSource.query<[{ queued: number; oldest: Date | null }]>(text),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  /** Changes the claimed row, unless a later claim exists. */
  private async change({ id, number }: Claim<Id>, change: string, values: readonly unknown[] = []): Promise<void> {
    const text = `UPDATE ${this.table} SET ${change} WHERE id = $1 AND claims = $2 AND status = 'queued'`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [id, number, ...values]));
  }
}
