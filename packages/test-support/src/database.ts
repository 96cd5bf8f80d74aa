import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  /** A value for DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
}

/** The template of an empty database. */
export const EMPTY = 'template1';

/**
 * Creates a database on the test run's PostgreSQL: a copy of the template, which is the one of TEST_DATABASE_TEMPLATE or
 * empty.
 */
export async function createDatabase(template = process.env['TEST_DATABASE_TEMPLATE'] ?? EMPTY): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  return { url: urlOf(name), drop: () => asSuperuser(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

export function nameOf({ url }: Pick<TestDatabase, 'url'>): string {
  return new URL(url).pathname.slice(1);
}

/** Runs a statement on a new connection and returns its rows. */
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
  if (url === undefined) throw new Error('TEST_POSTGRES_URL is not set: was Jest started without its config?');
  return url.replace(/^(\w+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}
