import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';

const surrounding = new AsyncLocalStorage<EntityManager>();

/** The connection for queries: the caller's transaction if there is one, else any connection of the pool. */
export function managerOf(dataSource: DataSource): EntityManager {
  const manager = surrounding.getStore();
  return manager?.dataSource === dataSource ? manager : dataSource.manager;
}

/** Whether what the caller asks the database is part of something larger, which fails as a whole. */
export function isInTransaction(): boolean {
  return surrounding.getStore() !== undefined;
}

/**
 * Runs `work`, which may fail and be answered for: within a transaction behind a savepoint, as PostgreSQL refuses
 * whatever follows a statement that has failed.
 */
export async function attempt<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  if (!isInTransaction()) return work();
  return managerOf(dataSource).transaction((manager) => surrounding.run(manager, work));
}

/** Runs `work`, all of whose queries through `managerOf` are one transaction; it ends with the promise. */
export async function inTransaction<Result>(dataSource: DataSource, work: () => Promise<Result>): Promise<Result> {
  return dataSource.transaction((manager) => surrounding.run(manager, work));
}
