import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { retryRead, toldOfDatabase } from './database-errors.js';
import type { ImpatientClient } from './impatient-client.js';
import { keptOf } from './kept-client.js';
import type { Row, Statement } from './prepared-query.js';
import { managerOf } from './transactions.js';

/**
 * Runs a statement that each connection prepares once: the server plans it no more, and neither TypeORM nor the driver
 * looks at its text.
 *
 * @param values as PostgreSQL reads them; `arrayOf` writes those that are arrays.
 * @throws DomainError `service_unavailable` where the database can't answer in time.
 */
export async function queryPrepared<Each extends Row>(
  dataSource: DataSource,
  statement: Statement,
  values: string[],
  since = performance.now(),
): Promise<readonly Each[]> {
  try {
    return (await send(dataSource, statement, values, since)) as readonly Each[];
  } catch (error) {
    throw toldOfDatabase(error);
  }
}

/** As `queryPrepared`, for what only reads (`retryRead`). */
export async function readPrepared<Each extends Row>(
  dataSource: DataSource,
  statement: Statement,
  values: string[],
): Promise<readonly Each[]> {
  const since = performance.now();
  try {
    return (await retryRead(dataSource, () => send(dataSource, statement, values, since))) as readonly Each[];
  } catch (error) {
    throw toldOfDatabase(error);
  }
}

function send(dataSource: DataSource, statement: Statement, values: string[], since: number): Promise<readonly Row[]> {
  const { queryRunner } = managerOf(dataSource);
  if (queryRunner !== undefined) {
    return (queryRunner.connect() as Promise<ImpatientClient>).then((client) =>
      client.queryPrepared(statement, values, since),
    );
  }
  return keptOf(poolOf(dataSource)).query(statement, values, since);
}

/** An array as PostgreSQL reads it. */
export function arrayOf(values: readonly (string | number | bigint)[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `"${escaped(value)}"` : value.toString()));
  return `{${quoted.join(',')}}`;
}

/** Most have nothing to be escaped, which a test tells sooner than a replacement. */
function escaped(value: string): string {
  return /["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value;
}

/** How many connections are idle, in use and wanted. */
export function poolStateOf(dataSource: DataSource) {
  const pool = poolOf(dataSource);
  const { totalCount, waitingCount: waiting, options } = pool;
  const idle = pool.idleCount + (keptOf(pool).isIdle ? 1 : 0);
  return { idle, used: totalCount - idle, size: options.max, waiting };
}

export function poolOf(dataSource: DataSource): pg.Pool {
  return (dataSource.driver as PostgresDriver).master as pg.Pool;
}
