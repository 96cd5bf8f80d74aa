import type { IdempotencyRecords, IdempotentRequest, Instant, RecordedAnswer } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { onDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { inTransaction, managerOf } from '../database/transactions.js';

/**
 * Takes the key, also if its record is old enough to be deleted. Waits for a concurrent transaction with the same key.
 */
const TAKE = `
  INSERT INTO idempotency_records AS taken (account_id, key, fingerprint, answered_at)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id, key) DO UPDATE
  SET fingerprint = excluded.fingerprint, answered_at = excluded.answered_at, answer = NULL
  WHERE taken.answered_at <= $5
  RETURNING key`;
const ANSWER = 'UPDATE idempotency_records SET answer = $3 WHERE account_id = $1 AND key = $2';
const FIND = 'SELECT fingerprint, answer FROM idempotency_records WHERE account_id = $1 AND key = $2';

export class PostgresIdempotencyRecords implements IdempotencyRecords {
  constructor(private readonly dataSource: DataSource) {}

  async once(request: IdempotentRequest, work: () => Promise<string>): Promise<RecordedAnswer> {
    for (;;) {
      const recorded = await onDatabase(() => inTransaction(this.dataSource, () => this.answer(request, work)));
      // Undefined if the record was deleted between the two queries.
      if (recorded !== undefined) return recorded;
    }
  }

  async forget(until: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'idempotency_records', time: 'answered_at' }, until);
  }

  private async answer(
    { accountId, key, fingerprint, now, forgottenUntil }: IdempotentRequest,
    work: () => Promise<string>,
  ): Promise<RecordedAnswer | undefined> {
    const manager = managerOf(this.dataSource);
    const id = [accountId.toString(), key];
    const times = [now, forgottenUntil].map((time) => new Date(time).toISOString());
    const taken = await manager.query<unknown[]>(TAKE, [...id, fingerprint, ...times]);
    if (taken.length > 0) {
      const answer = await work();
      await manager.query(ANSWER, [...id, answer]);
      return { answer, fingerprint, isReplay: false };
    }
    const [found] = await manager.query<{ fingerprint: string; answer: string }[]>(FIND, id);
    return found && { ...found, isReplay: true };
  }
}
