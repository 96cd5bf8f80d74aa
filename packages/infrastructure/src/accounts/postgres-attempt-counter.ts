import {
  type AttemptCounter,
  type AttemptDecision,
  type AttemptState,
  type Instant,
  instant,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { deletePortions } from '../database/delete-portions.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';

// Creates or locks the row in one statement, so that nobody can delete it in between. The time is the shared clock.
const LOCK = `
  INSERT INTO attempts AS kept (subject_hash, times, expires_at) VALUES ($1, '{}', now())
  ON CONFLICT (subject_hash) DO UPDATE SET times = kept.times
  RETURNING times, now()`;
const STORE = 'UPDATE attempts SET times = $2::timestamptz[], expires_at = $3 WHERE subject_hash = $1';
const REMOVE_LAST =
  'UPDATE attempts SET times = trim_array(times, 1) WHERE subject_hash = $1 AND cardinality(times) > 0';
const CLEAR = 'DELETE FROM attempts WHERE subject_hash = $1';

const instantOf = (date: Date) => instant(date.getTime());
const dateOf = (time: Instant) => new Date(time);

export class PostgresAttemptCounter implements AttemptCounter {
  constructor(private readonly dataSource: DataSource) {}

  async count(subjectHash: string, decide: (state: AttemptState) => AttemptDecision): Promise<AttemptDecision> {
    return inTransaction(this.dataSource, async (manager) => {
      const [{ times, now }] = await manager.query<[{ times: Date[]; now: Date }]>(LOCK, [subjectHash]);
      const decision = decide({ times: times.map(instantOf), sharedNow: instantOf(now) });
      if (decision.until === undefined) {
        await manager.query(STORE, [subjectHash, decision.times.map(dateOf), dateOf(decision.expiresAt)]);
      }
      return decision;
    });
  }

  async refund(subjectHash: string): Promise<void> {
    await this.write(REMOVE_LAST, [subjectHash]);
  }

  async clear(subjectHash: string): Promise<void> {
    await this.write(CLEAR, [subjectHash]);
  }

  async purge(now: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'attempts', time: 'expires_at' }, now);
  }

  private async write(text: string, values: unknown[]): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, values));
  }
}
