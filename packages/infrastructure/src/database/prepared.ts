import { readFromDatabase } from './on-database.js';
import type { PagePart, PagePosition, Transaction } from '@adoption-store/domain';
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

/** A statement and the values of its parameters. */
export interface StatementWithValues extends Statement {
  readonly values: unknown[];
}

/**
 * How SQL reads a page from an index: `beyond` compares with the position, `end` the first column with the list's value.
 * What is before a position is read backwards, so that the nearest come first, and `inOrder` turns it round.
 */
export function scanOf<Position>(order: 'ASC' | 'DESC', { after, before }: PagePosition<Position>) {
  const isBack = before !== undefined;
  const isAscending = (order === 'ASC') !== isBack;
  return {
    isBack,
    position: before ?? after,
    direction: isAscending ? 'ASC' : 'DESC',
    beyond: isAscending ? '>' : '<',
    end: isAscending ? '<=' : '>=',
    inOrder: <Item>(items: readonly Item[]) => (isBack ? items.toReversed() : items),
  } as const;
}

/** @param place of the value, such as `$2`. */
type Condition = (place: string) => string;

/**
 * The statements of a list ascending by id. Each combination of filters has a text, and so a name, of its own.
 *
 * @param filters the condition of each field of a query.
 */
export function listById<Query extends PagePart<bigint>>(
  name: string,
  select: string,
  filters: Readonly<Record<Exclude<keyof Query, keyof PagePart<bigint>>, Condition>>,
) {
  const positions = { after: (place: string) => `id > ${place}`, before: (place: string) => `id < ${place}` };
  const fields = Object.entries<Condition>({ ...filters, ...positions });
  return (query: Query): StatementWithValues => {
    const names = [name];
    const values: unknown[] = [query.limit];
    const conditions: string[] = [];
    for (const [field, condition] of fields) {
      const value = query[field as keyof Query];
      if (value === undefined) continue;
      names.push(field);
      conditions.push(condition(`$${values.push(value)}`));
    }
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const direction = query.before === undefined ? '' : ' DESC';
    return { name: names.join(' '), text: `${select}${where} ORDER BY id${direction} LIMIT $1`, values };
  };
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
