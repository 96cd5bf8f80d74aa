import type { AfterQueryEvent, DataSource, EntitySubscriberInterface } from 'typeorm';
import { sqlState } from './database-errors.js';
import { poolOf } from './pipelining-pool.js';

/** SQLSTATE of a write on a standby, or on a server that is set to read-only. */
export const READ_ONLY = '25006';

/** Retires the pool's connections after a write on a server that only reads, because new ones may reach a primary. */
export function retireIfReadOnly(dataSource: DataSource, error: unknown): void {
  if (sqlState(error) === READ_ONLY) poolOf(dataSource).retire();
}

/** Calls `retireIfReadOnly` after each of TypeORM's queries. */
export class ReadOnlyServers implements EntitySubscriberInterface {
  afterQuery({ dataSource, error }: AfterQueryEvent): void {
    retireIfReadOnly(dataSource, error);
  }
}
