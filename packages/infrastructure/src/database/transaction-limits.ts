import type { Transaction } from '@adoption-store/domain';
import type { DataSource, EntityManager, EntitySubscriberInterface, TransactionStartEvent } from 'typeorm';
import { onDatabase } from './database-errors.js';
import { poolOf } from './pipelining-pool.js';
import { QUERY_TIMEOUT } from './query-timeouts.js';
import { inTransaction, managerOf } from './transactions.js';

const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout']
  .map((name) => `SET LOCAL ${name} = ${QUERY_TIMEOUT}`)
  .join(';');

/**
 * Limits each transaction behind a pooler, whose sessions are shared with others: an abandoned statement, or a process
 * that is frozen, must not hold locks.
 */
export class TransactionLimits implements EntitySubscriberInterface {
  async afterTransactionStart({ queryRunner }: TransactionStartEvent): Promise<void> {
    await queryRunner.query(LIMITS);
  }
}

/**
 * Runs a statement that may wait for a lock: behind a pooler in a transaction of its own, which is limited there.
 *
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function writeToDatabase<Result>(
  dataSource: DataSource,
  statement: (manager: EntityManager) => Promise<Result>,
  transaction?: Transaction,
): Promise<Result> {
  if (transaction === undefined && poolOf(dataSource).poolsTransactions) return inTransaction(dataSource, statement);
  return onDatabase(() => statement(managerOf(dataSource, transaction)), { transaction });
}
