import { DAY, type Instant, later } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase } from '../database/database-errors.js';

/** Rows of one statement at the most: none takes long, and none holds many locks. */
const BATCH = 1_000;

/** For instances whose clock lags behind. */
const SPARE = DAY;

/** The counts of days that have passed. Rows that are just being written are left to the next time. */
const PURGE_COUNTS = `
  DELETE FROM request_counts WHERE account_id = ANY(ARRAY(
    SELECT account_id FROM request_counts WHERE day_start <= $1
    ORDER BY account_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;

/** A ban counts for as long as it lasts, and for a day towards the length of the next. */
const PURGE_BANS = `
  DELETE FROM key_bans WHERE key_id = ANY(ARRAY(
    SELECT key_id FROM key_bans WHERE banned_at <= $1 AND banned_until <= $2
    ORDER BY key_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`;

/** Deletes what no instance asks for anymore from `now` on; how many rows. */
export async function purgeLastingCounts(dataSource: DataSource, now: Instant): Promise<number> {
  const over = new Date(later(now, -SPARE));
  const begunBefore = new Date(later(now, -SPARE - DAY));
  const counts = await deleteAll(dataSource, PURGE_COUNTS, [begunBefore]);
  return counts + (await deleteAll(dataSource, PURGE_BANS, [begunBefore, over]));
}

async function deleteAll(dataSource: DataSource, text: string, parameters: readonly Date[]): Promise<number> {
  let total = 0;
  for (;;) {
    const [, deleted] = await onDatabase(() => dataSource.query<[unknown[], number]>(text, [...parameters]));
    total += deleted;
    if (deleted < BATCH) return total;
  }
}
