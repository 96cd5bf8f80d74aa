import type { Transaction } from '@adoption-store/domain';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { readFromDatabase } from './database-errors.js';
import { poolOf, sendable } from './pipelining-pool.js';
import { traced } from './query-tracing.js';
import { retireIfReadOnly } from './read-only-servers.js';
import { writeToDatabase } from './transactions.js';

/**
 * A prepared statement. A connection knows it by its name, so another text needs another name. Through a pooler in
 * transaction mode it is sent without a name, because the next session wouldn't know it.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

type Send = (query: pg.QueryArrayConfig) => Promise<pg.QueryArrayResult>;

/**
 * Runs a statement without TypeORM. Each connection prepares it once, so that the server doesn't plan it again.
 *
 * @returns rows as arrays of values, in the order of the columns, as pg parses them.
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function queryPrepared<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
  transaction?: Transaction,
): Promise<readonly Row[]> {
  const pool = poolOf(dataSource);
  return writeToDatabase(
    dataSource,
    ({ queryRunner }) =>
      run<Row>(dataSource, statement, values, async (query) => {
        // In a transaction this is the connection that TypeORM's runner holds.
        const client = queryRunner === undefined ? pool : ((await queryRunner.connect()) as pg.PoolClient);
        return client.query(sendable(query, pool));
      }),
    transaction,
  );
}

/** Like `queryPrepared`, for statements that only read (`retryRead`). */
export async function readPrepared<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
): Promise<readonly Row[]> {
  return readFromDatabase(dataSource, () =>
    run<Row>(dataSource, statement, values, (query) => poolOf(dataSource).read(query)),
  );
}

async function run<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
  send: Send,
): Promise<readonly Row[]> {
  const query = { ...statement, values, rowMode: 'array' as const };
  try {
    const { rows } = await traced(statement, () => send(query));
    return rows as unknown as readonly Row[];
  } catch (error) {
    retireIfReadOnly(dataSource, error);
    throw error;
  }
}

/** Numbers of connections; `waiting` counts the callers that wait for one. */
export function poolStateOf(dataSource: DataSource) {
  const { totalCount, unusedCount: idle, waitingCount: waiting, options } = poolOf(dataSource);
  return { idle, used: totalCount - idle, size: options.max, waiting };
}
