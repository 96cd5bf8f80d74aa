import { setTimeout as delay } from 'node:timers/promises';
import {
  DomainError,
  idempotencyErrors,
  type IdempotencyRecords,
  type IdempotentRequest,
  type Instant,
  ours,
  type RecordedAnswer,
  type Transaction,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { LOCK_NOT_AVAILABLE, sqlState } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { onDatabase } from '../database/on-database.js';
import { inTransaction } from '../database/transactions.js';

/** Milliseconds for which a caller waits for another caller in this process. Meanwhile it holds no connection. */
const WAIT = 1_000;
/** Milliseconds for which a process waits for another process's transaction. Meanwhile it holds a connection. */
const LOCK_WAIT = 300;

/**
 * Takes the key, unless it has a record that hasn't expired. Waits only briefly for a concurrent transaction with the
 * same key, and then resets the timeout for the locks of the work. If the key has a record, it is locked too, so that
 * `FIND` finds it.
 */
const TAKE = `
  INSERT INTO idempotency_records AS taken (account_id, key, fingerprint, answered_at)
  SELECT $1::bigint, $2::text, $3::text, $4::timestamptz FROM set_config('lock_timeout', '${LOCK_WAIT}ms', true)
  ON CONFLICT (account_id, key) DO UPDATE
  SET fingerprint = excluded.fingerprint, answered_at = excluded.answered_at, answer = NULL
  WHERE taken.answered_at <= $5
  RETURNING set_config('lock_timeout', '0', true)`;
const ANSWER = 'UPDATE idempotency_records SET answer = $3 WHERE account_id = $1 AND key = $2';
const FIND = 'SELECT fingerprint, answer FROM idempotency_records WHERE account_id = $1 AND key = $2';

type Work = (transaction: Transaction) => Promise<string>;

interface Answered {
  readonly recorded: RecordedAnswer;
  /**
   * Rejects if the answer couldn't be stored. The transaction then changes nothing, although its COMMIT doesn't fail.
   */
  readonly stored?: Promise<unknown>;
}

export class PostgresIdempotencyRecords implements IdempotencyRecords {
  /** The requests in progress in this process, by account and key. Only one caller of each uses the database. */
  private readonly inProgress = new Map<string, Promise<RecordedAnswer>>();

  constructor(private readonly dataSource: DataSource) {}

  async once(request: IdempotentRequest, work: Work): Promise<RecordedAnswer> {
    const id = `${request.accountId} ${request.key}`;
    const begun = performance.now();
    let late: Promise<never> | undefined;
    for (let other = this.inProgress.get(id); other !== undefined; other = this.inProgress.get(id)) {
      // One timer for all waits of this caller: if the first caller fails, the others wait again for one of them.
      late ??= delay(WAIT, undefined, { ref: false }).then(() => Promise.reject(inUse()));
      const recorded = await firstOf(other, late);
      if (recorded !== undefined) return { ...recorded, isReplay: true };
    }
    const recording = this.record(request, work, begun).finally(() => this.inProgress.delete(id));
    this.inProgress.set(id, recording);
    return recording;
  }

  async purge(until: Instant): Promise<number> {
    return deletePortions(this.dataSource, { table: 'idempotency_records', time: 'answered_at' }, until);
  }

  private async record(request: IdempotentRequest, work: Work, since: number): Promise<RecordedAnswer> {
    const answer = async () => {
      const { recorded, stored } = await inTransaction(
        this.dataSource,
        (manager, transaction) => answered(request, manager, () => work(transaction)),
        { since },
      );
      await stored;
      return recorded;
    };
    return onDatabase(answer, { since });
  }
}

/** The answer of the work, or the recorded one if the key is taken. */
async function answered(
  { accountId, key, fingerprint, now, expiredUntil }: IdempotentRequest,
  manager: EntityManager,
  work: () => Promise<string>,
): Promise<Answered> {
  const id = [accountId.toString(), key];
  const times = [now, expiredUntil].map((time) => new Date(time).toISOString());
  const taken = await manager.query<unknown[]>(TAKE, [...id, fingerprint, ...times]).catch((error: unknown) => {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? inUse(error) : error;
  });
  if (taken.length > 0) {
    const answer = await work();
    // Not awaited: the COMMIT follows it in the pipeline, which saves a round trip.
    const stored = manager.query(ANSWER, [...id, answer]);
    stored.catch(() => undefined);
    return { recorded: { answer, fingerprint, isReplay: false }, stored };
  }
  const [found] = await manager.query<[{ fingerprint: string; answer: string }]>(FIND, id);
  return { recorded: { ...found, isReplay: true } };
}

/**
 * The other caller's answer. Undefined if that caller failed, so that this one may try.
 *
 * @throws DomainError `idempotency_key_in_use` if it takes too long, or another process is using the key.
 */
async function firstOf(other: Promise<RecordedAnswer>, late: Promise<never>): Promise<RecordedAnswer | undefined> {
  return Promise.race([other, late]).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'idempotency_key_in_use') throw error;
    return undefined;
  });
}

function inUse(cause?: unknown): DomainError {
  const message = ours`another request with this Idempotency-Key is in progress, try again`;
  return new DomainError(idempotencyErrors.idempotency_key_in_use, message, { cause });
}
