import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  /** A value for DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of the run's PostgreSQL: an empty one, or a copy of the one that TEST_DATABASE_TEMPLATE names. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${process.env['TEST_DATABASE_TEMPLATE'] ?? 'template1'}`);
  return { url: urlOf(name), drop: () => asSuperuser(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** The rows of a statement, on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values?: unknown[],
): Promise<readonly Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

async function asSuperuser(statement: string): Promise<void> {
  await ask(urlOf('postgres'), statement);
}

function urlOf(database: string): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error("the run's PostgreSQL is not there: was Jest started without its config?");
  return url.replace(/^(\w+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}
