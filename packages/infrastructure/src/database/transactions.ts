import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';

const surrounding = new AsyncLocalStorage<EntityManager>();

/** The manager for queries: that of the caller's transaction, or else any connection of the pool. */
export function managerOf(dataSource: DataSource): EntityManager {
  const manager = surrounding.getStore();
  return manager?.dataSource === dataSource ? manager : dataSource.manager;
}

/** Whether the caller is in a transaction, which fails as a whole. */
export function isInTransaction(): boolean {
  return surrounding.getStore() !== undefined;
}

/**
 * Runs `work`, whose failure the caller may handle. In a transaction it runs behind a savepoint, because PostgreSQL
 * refuses further statements after a failed one.
 */
export async function attempt<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  if (!isInTransaction()) return work();
  return managerOf(dataSource).transaction((manager) => surrounding.run(manager, work));
}

/** Runs `work` in one transaction: all queries through `managerOf` belong to it. It ends with the promise. */
export async function inTransaction<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  return dataSource.transaction((manager) => surrounding.run(manager, work));
}
