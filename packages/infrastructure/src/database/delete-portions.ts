import type { Instant } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase } from './database-errors.js';

/**
 * Deletes the rows whose `time` (an indexed expression) is at or before an instant and for which `where` holds. Rows
 * that another transaction is changing are skipped until the next time.
 *
 * @param most rows in one statement, which has a time limit.
 * @returns the number of deleted rows.
 */
export async function deletePortions(
  dataSource: DataSource,
  { table, time, where = 'true', most = 1_000 }: { table: string; time: string; where?: string; most?: number },
  until: Instant,
): Promise<number> {
  // By ctid, because PostgreSQL would otherwise scan the whole table for the rows of a batch.
  const text = `
    DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${table} WHERE ${time} <= $1 AND ${where}
      ORDER BY ${time} LIMIT ${most} FOR UPDATE SKIP LOCKED))`;
  let deleted = 0;
  for (;;) {
    const [, count] = await onDatabase(() =>
      dataSource.query<[unknown[], number]>(text, [new Date(until).toISOString()]),
    );
    deleted += count;
    if (count === 0) return deleted;
  }
}
