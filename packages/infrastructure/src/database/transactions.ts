import { QueryTimeoutError } from './database-errors.js';
import { isOverdue, onDatabase, QUERY_TIMEOUT } from './on-database.js';
import type { Transaction } from '@adoption-store/domain';
import type { DataSource, EntityManager, EntitySubscriberInterface, TransactionStartEvent } from 'typeorm';
import { poolOf } from './pipelining-pool.js';

/** The domain's opaque `Transaction` is TypeORM's manager. */
const running = (transaction: Transaction) => transaction as unknown as EntityManager;

/**
 * Runs `work` in the given transaction, or in a new one, which ends with the promise. A new one isn't committed once its
 * caller has been told that it takes too long.
 *
 * @param since when the wait began (`onDatabase`).
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function inTransaction<Result>(
  dataSource: DataSource,
  work: (manager: EntityManager, transaction: Transaction) => Promise<Result>,
  { within, since = performance.now() }: { readonly within?: Transaction | undefined; readonly since?: number } = {},
): Promise<Result> {
  if (within !== undefined) return work(running(within), within);
  const run = () =>
    dataSource.transaction(async (manager) => {
      requireInTime(since);
      const result = await work(manager, manager as unknown as Transaction);
      requireInTime(since);
      return result;
    });
  return onDatabase(() => poolOf(dataSource).write(run), { since });
}

/** Whoever waits for work that is overdue has already been told so. */
function requireInTime(since: number): void {
  if (isOverdue(since)) throw new QueryTimeoutError();
}

/**
 * Runs a statement that may wait for a lock. With a pooler it gets a transaction, so that `TransactionLimits` applies.
 *
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function writeToDatabase<Result>(
  dataSource: DataSource,
  statement: (manager: EntityManager) => Promise<Result>,
  transaction?: Transaction,
): Promise<Result> {
  if (transaction !== undefined) return onDatabase(() => statement(running(transaction)), { transaction });
  const pool = poolOf(dataSource);
  if (pool.poolsTransactions) return inTransaction(dataSource, statement);
  return onDatabase(() => pool.write(() => statement(dataSource.manager)));
}

const LIMITS = `
  SET LOCAL statement_timeout = ${QUERY_TIMEOUT};
  SET LOCAL idle_in_transaction_session_timeout = ${QUERY_TIMEOUT}`;

/**
 * With a pooler, sets the time limits in each transaction, because the connections are shared and can't have limits of
 * their own. An abandoned statement or a frozen process must not hold locks.
 */
export class TransactionLimits implements EntitySubscriberInterface {
  async afterTransactionStart({ queryRunner }: TransactionStartEvent): Promise<void> {
    await queryRunner.query(LIMITS);
  }
}
