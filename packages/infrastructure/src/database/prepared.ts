import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { ImpatientClient } from './impatient-client.js';
import type { Row, Statement } from './prepared-query.js';
import { managerOf } from './transactions.js';

type Client = ImpatientClient & pg.PoolClient;

/**
 * Runs a statement that each connection prepares once: the server plans it no more, and neither TypeORM nor the driver
 * looks at its text.
 *
 * @param values as PostgreSQL reads them; `arrayOf` writes those that are arrays.
 */
export async function queryPrepared<Each extends Row>(
  dataSource: DataSource,
  statement: Statement,
  values: string[],
): Promise<readonly Each[]> {
  const { queryRunner } = managerOf(dataSource);
  const client = (await (queryRunner ?? poolOf(dataSource)).connect()) as Client;
  try {
    return (await client.queryPrepared(statement, values)) as readonly Each[];
  } finally {
    if (queryRunner === undefined) client.release();
  }
}

/** An array as PostgreSQL reads it. */
export function arrayOf(values: readonly (string | bigint)[]): string {
  const quoted = values.map((value) =>
    typeof value === 'bigint' ? value.toString() : `"${value.replace(/["\\]/g, '\\$&')}"`,
  );
  return `{${quoted.join(',')}}`;
}

/** How many connections are idle, in use and wanted. */
export function poolStateOf(dataSource: DataSource) {
  const { idleCount: idle, totalCount, waitingCount: waiting, options } = poolOf(dataSource);
  return { idle, used: totalCount - idle, size: options.max, waiting };
}

export function poolOf(dataSource: DataSource): pg.Pool {
  return (dataSource.driver as PostgresDriver).master as pg.Pool;
}
