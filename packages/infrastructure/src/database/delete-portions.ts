import { type Instant, DomainError } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { writeToDatabase } from './transactions.js';

interface Portion {
  readonly found: number;
  /** The earliest time in the portion, as PostgreSQL's text, because a Date would lose the microseconds. */
  readonly earliest: string | null;
}

/**
 * Deletes the rows whose `time` (an indexed expression) is at or before an instant and for which `where` holds. Rows
 * that another transaction is changing are skipped until the next time.
 *
 * @param most rows per statement, because a statement has a time limit.
 * @returns the number of deleted rows.
 */
export async function deletePortions(
  dataSource: DataSource,
  { table, time, where = 'true', most = 1_000 }: { table: string; time: string; where?: string; most?: number },
  until: Instant,
): Promise<number> {
  // The latest rows are deleted first, and each portion begins where the previous one ended. Deleted rows keep their
  // index entries while an old snapshot, such as that of a backup, can see them; starting over would read all those
  // entries again. The rows are deleted by ctid, because PostgreSQL would otherwise scan the whole table for each
  // portion.
  const text = `
    WITH portion AS MATERIALIZED (
      SELECT ctid, ${time} AS time FROM ${table} WHERE ${time} <= $1 AND ${time} <= $2 AND ${where}
      ORDER BY ${time} DESC LIMIT ${most} FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM portion))
    )
    SELECT count(*)::integer AS found, min(time)::text AS earliest FROM portion`;
  let deleted = 0;
  let end = 'infinity';
  for (;;) {
    const [{ found, earliest }] = await writeToDatabase(dataSource, (manager) =>
      manager.query<[Portion]>(text, [new Date(until).toISOString(), end]),
    );
    deleted += found;
    if (found < most) return deleted;
    end = earliest ?? end;
  }
}

/** Rows per statement, because a statement has a time limit. */
const MOST = 1_000;

/**
 * Repeats `work`, which deletes at most `most` rows and returns their number, until it finds no more. If a portion
 * exceeds the time limit, the next ones are half as large: how long a row takes isn't known in advance.
 *
 * @returns the number of rows.
 */
export async function inPortions(work: (most: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  let most = MOST;
  for (;;) {
    try {
      const portion = await work(most);
      if (portion === 0) return deleted;
      deleted += portion;
    } catch (error) {
      if (most === 1 || !(error instanceof DomainError && error.kind === 'unavailable')) throw error;
      most = Math.ceil(most / 2);
    }
  }
}
