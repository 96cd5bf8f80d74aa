import {
  type AttemptCounter,
  type CountedAttempt,
  type Instant,
  instant,
  later,
  MOST_SKEW,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { writeToDatabase } from '../database/transaction-limits.js';

// An attempt that lies ahead comes from a clock that ran ahead, and doesn't count. The database's clock counts too: an
// instance whose clock is behind must not ignore the attempts of the others.
const NOT_AHEAD = `time <= GREATEST($2, now()) + interval '${MOST_SKEW} milliseconds'`;
const COUNTS_NOW = `time > $3 AND ${NOT_AHEAD}`;
// An instance whose clock is ahead must not remove the attempts that still count for the others.
const IS_KEPT = `time > LEAST($3, now() - ($2::timestamptz - $3)) AND ${NOT_AHEAD}`;

// The insert locks the row before the attempts are counted, so concurrent attempts are decided one after the other.
const COUNT = `
  INSERT INTO attempts AS kept (subject_hash, times, expires_at) VALUES ($1, ARRAY[$2::timestamptz], $4)
  ON CONFLICT (subject_hash) DO UPDATE
  SET times = ARRAY(SELECT time FROM unnest(kept.times) AS time WHERE ${IS_KEPT} ORDER BY time) || excluded.times,
    expires_at = excluded.expires_at
  WHERE (SELECT count(*) FROM unnest(kept.times) AS time WHERE ${COUNTS_NOW}) < $5
  RETURNING subject_hash`;
const EARLIEST = `
  SELECT time FROM attempts, unnest(times) AS time WHERE subject_hash = $1 AND ${COUNTS_NOW}
  ORDER BY time DESC LIMIT 1 OFFSET $4`;
const TAKE_BACK = 'UPDATE attempts SET times = trim_array(times, 1) WHERE subject_hash = $1 AND cardinality(times) > 0';
const CLEAR = 'DELETE FROM attempts WHERE subject_hash = $1';

export class PostgresAttemptCounter implements AttemptCounter {
  constructor(private readonly dataSource: DataSource) {}

  async count({ subjectHash, most, within, now }: CountedAttempt): Promise<Instant | undefined> {
    const [time, since, end] = [now, later(now, -within), later(now, within)].map((each) => new Date(each));
    for (;;) {
      const counted = await this.write(COUNT, [subjectHash, time, since, end, most]);
      if (counted.length > 0) return undefined;
      const [earliest] = await readFromDatabase(this.dataSource, () =>
        this.dataSource.query<{ time: Date }[]>(EARLIEST, [subjectHash, time, since, most - 1]),
      );
      // Undefined if attempts were removed in the meantime.
      if (earliest !== undefined) return later(instant(earliest.time.getTime()), within);
    }
  }

  async takeBack(subjectHash: string): Promise<void> {
    await this.write(TAKE_BACK, [subjectHash]);
  }

  async clear(subjectHash: string): Promise<void> {
    await this.write(CLEAR, [subjectHash]);
  }

  async purge(now: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'attempts', time: 'expires_at' }, now);
  }

  private write(text: string, values: unknown[]): Promise<unknown[]> {
    return writeToDatabase(this.dataSource, (manager) => manager.query<unknown[]>(text, values));
  }
}
