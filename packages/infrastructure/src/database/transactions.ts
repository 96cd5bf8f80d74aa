import type { Transaction } from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { onDatabase } from './database-errors.js';

/** What a `Transaction` is here. */
interface Running {
  readonly manager: EntityManager;
  readonly onCommit: (() => void)[];
}

const running = (transaction: Transaction) => transaction as unknown as Running;

/** The manager for queries: that of the transaction, or else any connection of the pool. */
export function managerOf(dataSource: DataSource, transaction?: Transaction): EntityManager {
  return transaction === undefined ? dataSource.manager : running(transaction).manager;
}

/** Calls `work` once the transaction is committed, or now if there is none. Never after a rollback. */
export function afterCommit(work: () => void, transaction?: Transaction): void {
  if (transaction === undefined) work();
  else running(transaction).onCommit.push(work);
}

/**
 * Runs `work` in that transaction, or in one of its own, which ends with the promise.
 *
 * @param since when the wait began (`onDatabase`).
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function inTransaction<Result>(
  dataSource: DataSource,
  work: (manager: EntityManager, transaction: Transaction) => Promise<Result>,
  { within, since }: { readonly within?: Transaction | undefined; readonly since?: number } = {},
): Promise<Result> {
  if (within !== undefined) return work(running(within).manager, within);
  const onCommit: (() => void)[] = [];
  const result = await onDatabase(
    () =>
      dataSource.transaction((manager) =>
        work(manager, { manager, onCommit } satisfies Running as unknown as Transaction),
      ),
    { since },
  );
  for (const each of onCommit) each();
  return result;
}
