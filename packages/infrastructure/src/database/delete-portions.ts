import type { Instant } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase } from './database-errors.js';

/**
 * Deletes the rows of a table that an index has by `time`, an expression, up to an instant, and for which `where` holds.
 * Rows that somebody is changing just now are left to the next time.
 *
 * @param most rows in one statement: one that takes too long is ended.
 * @returns how many rows that were.
 */
export async function deletePortions(
  dataSource: DataSource,
  { table, time, where = 'true', most = 1_000 }: { table: string; time: string; where?: string; most?: number },
  until: Instant,
): Promise<number> {
  // By their places, or PostgreSQL reads the whole table to find the rows of a portion.
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
