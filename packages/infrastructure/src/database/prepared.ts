import { readFromDatabase } from './on-database.js';
import type { Transaction } from '@adoption-store/domain';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { int64Of } from './columns.js';
import { poolOf, sendable } from './pipelining-pool.js';
import { queries } from './query-tracing.js';
import { retireIfReadOnly } from './read-only-servers.js';
import { writeToDatabase } from './transactions.js';

/**
 * A prepared statement. A connection knows it by its name, so another text needs another name. With a pooler in
 * transaction mode it is sent without a name, because the next session may not know it.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Parses an int64 as a bigint. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, int64Of);

/**
 * Runs a statement without TypeORM. Each connection prepares it once, so that the server doesn't plan it again.
 *
 * @returns rows as arrays of values, in the order of the columns. An int64 is a bigint, the rest is as pg parses it.
 * @throws DomainError `service_unavailable` if the database doesn't answer in time.
 */
export async function queryPrepared<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
  transaction?: Transaction,
): Promise<readonly Row[]> {
  return write<Row>(dataSource, queryOf(statement, values), transaction);
}

/** Like `queryPrepared`, with rows as objects. */
export async function queryPreparedObjects<Row extends object>(
  dataSource: DataSource,
  { name, text }: Statement,
  values: unknown[],
  transaction?: Transaction,
): Promise<readonly Row[]> {
  return write<Row>(dataSource, { name, text, values, types: TYPES }, transaction);
}

async function write<Row>(
  dataSource: DataSource,
  statement: Statement & pg.QueryConfig,
  transaction: Transaction | undefined,
): Promise<readonly Row[]> {
  const pool = poolOf(dataSource);
  const query = sendable(statement, pool);
  return writeToDatabase(
    dataSource,
    async ({ queryRunner }) => {
      // In a transaction this is the connection that TypeORM's runner holds.
      const client = queryRunner === undefined ? pool : ((await queryRunner.connect()) as pg.PoolClient);
      return answer<Row>(dataSource, statement, () => client.query(query));
    },
    transaction,
  );
}

/** Like `queryPrepared`, for statements that only read (`readFromDatabase`). */
export async function readPrepared<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
  pool = poolOf(dataSource),
): Promise<readonly Row[]> {
  const query = queryOf(statement, values);
  return readFromDatabase(dataSource, () => answer<Row>(dataSource, statement, () => pool.read(query)), pool);
}

/** Like `readPrepared`, on the connection for look-ups: for what a request needs before it may begin. */
export async function lookUpPrepared<Row extends readonly unknown[]>(
  dataSource: DataSource,
  statement: Statement,
  values: unknown[],
): Promise<readonly Row[]> {
  return readPrepared(dataSource, statement, values, poolOf(dataSource).lookUps);
}

function queryOf({ name, text }: Statement, values: unknown[]): pg.QueryArrayConfig & Statement {
  return { name, text, values, rowMode: 'array', types: TYPES };
}

async function answer<Row>(
  dataSource: DataSource,
  { name, text }: Statement,
  send: () => Promise<{ readonly rows: unknown }>,
): Promise<readonly Row[]> {
  try {
    const { rows } = await (queries.start.hasSubscribers ? queries.tracePromise(send, { name, text }) : send());
    return rows as readonly Row[];
  } catch (error) {
    retireIfReadOnly(dataSource, error);
    throw error;
  }
}

/** Numbers of connections; `waiting` counts the callers that wait for one. */
export function poolStateOf(dataSource: DataSource) {
  const { totalCount, unusedCount: idle, pendingCount: waiting, givenUpCount: givenUp, options } = poolOf(dataSource);
  return { idle, used: totalCount - idle, size: options.max, waiting, givenUp };
}
