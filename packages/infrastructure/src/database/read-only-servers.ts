import type { AfterQueryEvent, DataSource, EntitySubscriberInterface } from 'typeorm';
import { sqlState } from './database-errors.js';
import { poolOf } from './pipelining-pool.js';

/** SQLSTATE for a write on a standby, or on a server that is set to read-only. */
const READ_ONLY = '25006';

/** Retires the pool's connections if a write has found a server that only reads. Such a connection never recovers. */
export function retireIfReadOnly(dataSource: DataSource, error: unknown): void {
  if (sqlState(error) === READ_ONLY) poolOf(dataSource).retire();
}

/** Does so for TypeORM's queries. */
export class ReadOnlyServers implements EntitySubscriberInterface {
  afterQuery({ dataSource, error }: AfterQueryEvent): void {
    retireIfReadOnly(dataSource, error);
  }
}
