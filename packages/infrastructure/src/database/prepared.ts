import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { managerOf } from './transactions.js';

/** A row as the server sends it: what the driver makes of its columns, in the order they are asked for. */
export type Row = readonly unknown[];

/**
 * Runs a statement that each connection prepares once, under its name: the server plans it no more, and neither TypeORM
 * nor the driver looks at its text.
 */
export async function queryPrepared<Each extends Row>(
  dataSource: DataSource,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<Each[]> {
  const manager = managerOf(dataSource);
  const connection = manager.queryRunner === undefined ? poolOf(dataSource) : await clientOf(manager);
  const { rows } = await connection.query<Each[]>({ name, text, values: values as unknown[], rowMode: 'array' });
  return rows as unknown as Each[];
}

/** How many connections are idle, in use and wanted. */
export function poolStateOf(dataSource: DataSource) {
  const { idleCount: idle, totalCount, waitingCount: waiting, options } = poolOf(dataSource);
  return { idle, used: totalCount - idle, size: options.max, waiting };
}

export function poolOf(dataSource: DataSource): pg.Pool {
  return (dataSource.driver as PostgresDriver).master as pg.Pool;
}

async function clientOf({ queryRunner }: EntityManager): Promise<pg.PoolClient> {
  return (await queryRunner?.connect()) as pg.PoolClient;
}
