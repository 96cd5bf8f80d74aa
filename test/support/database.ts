import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  /** What DATABASE_URL takes. */
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of the run's PostgreSQL: an empty one, or a copy of the one that TEST_DATABASE_TEMPLATE names. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${process.env['TEST_DATABASE_TEMPLATE'] ?? 'template1'}`);
  return { url: urlOf(name), drop: () => asSuperuser(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client(urlOf('postgres'));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error("the run's PostgreSQL is not there: was Jest started without its config?");
  return url.replace(/^(\w+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}
