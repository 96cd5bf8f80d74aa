import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';

interface Transaction {
  readonly manager: EntityManager;
  readonly onCommit: (() => void)[];
}

const surrounding = new AsyncLocalStorage<Transaction>();

/** The manager for queries: that of the caller's transaction, or else any connection of the pool. */
export function managerOf(dataSource: DataSource): EntityManager {
  const manager = surrounding.getStore()?.manager;
  return manager?.dataSource === dataSource ? manager : dataSource.manager;
}

/** Whether the caller is in a transaction, which fails as a whole. */
export function isInTransaction(): boolean {
  return surrounding.getStore() !== undefined;
}

/** Calls `work` once the caller's writes are committed: now, or after its transaction. Never after a rollback. */
export function afterCommit(work: () => void): void {
  const transaction = surrounding.getStore();
  if (transaction === undefined) work();
  else transaction.onCommit.push(work);
}

/**
 * Runs `work`, whose failure the caller may handle. In a transaction it runs behind a savepoint, because PostgreSQL
 * refuses further statements after a failed one.
 */
export async function attempt<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  const transaction = surrounding.getStore();
  if (transaction === undefined) return work();
  return managerOf(dataSource).transaction((manager) => surrounding.run({ ...transaction, manager }, work));
}

/** Runs `work` in one transaction: all queries through `managerOf` belong to it. It ends with the promise. */
export async function inTransaction<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  const onCommit: (() => void)[] = [];
  const result = await dataSource.transaction((manager) => surrounding.run({ manager, onCommit }, work));
  for (const each of onCommit) each();
  return result;
}
