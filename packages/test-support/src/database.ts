import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';

export interface TestDatabase {
  /** A value for DATABASE_URL. In a migrated database it is the services' role, which may only read and write rows. */
  readonly url: string;
  /** The same for the role that owns the tables. */
  readonly ownerUrl: string;
  /** @throws Error if PostgreSQL has logged an ERROR in this database that the suite doesn't expect. */
  drop(): Promise<void>;
}

/** The roles of docker/roles.sql. */
export const OWNER = 'store_owner';
export const SERVICES = 'store_a';

/** PostgreSQL writes the database, the role and the SQLSTATE before each line of its log. */
export const LOG_LINE_PREFIX = '%d %u %e ';

/** For this spec file, because Jest loads the module anew for each. 57014: statement_timeout, on a slow machine. */
const expected = new Set<string>(['57014']);

/** Allows ERRORs with these SQLSTATEs in this spec file's databases. Any other one fails it. */
export function expectDatabaseErrors(...sqlStates: readonly string[]): void {
  for (const state of sqlStates) expected.add(state);
}

/** The template of an empty database. */
export const EMPTY = 'template1';

/**
 * Creates a database on the test run's PostgreSQL: a copy of the template, which is the one of TEST_DATABASE_TEMPLATE
 * or empty. An empty one has no roles, so its URLs are the superuser's.
 */
export async function createDatabase(template = process.env['TEST_DATABASE_TEMPLATE'] ?? EMPTY): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const isMigrated = template !== EMPTY;
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  // A copy has the template's tables with their privileges, but not the privileges of the database itself.
  if (isMigrated) {
    await asSuperuser(`REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`);
    await asSuperuser(`GRANT TEMPORARY ON DATABASE ${name} TO ${OWNER}`);
  }
  const urlAs = (role: string) => (isMigrated ? withRole(role, urlOf(name)) : urlOf(name));
  return {
    url: urlAs(SERVICES),
    ownerUrl: urlAs(OWNER),
    async drop() {
      await asSuperuser(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      const errors = await unexpectedErrors(name);
      if (errors.length > 0) throw new Error(`PostgreSQL logged errors:\n${errors.join('\n')}`);
    },
  };
}

/** ERRORs in the server's log that no test expects. Empty if the log isn't known (global-setup.ts). */
async function unexpectedErrors(database: string): Promise<readonly string[]> {
  const log = process.env['TEST_POSTGRES_LOG'];
  if (log === undefined) return [];
  // The further lines of a message begin with the same prefix, or with a tab.
  const further = `\\n(?:\\t|${database} \\S* \\w{5} (?:DETAIL|HINT|CONTEXT|STATEMENT):).*`;
  const lines = new RegExp(`^${database} \\S* (\\w{5}) ERROR: .*(?:${further})*`, 'gm');
  const errors = [...(await readFile(log, 'utf8')).matchAll(lines)];
  return errors.filter(([, state = '']) => !expected.has(state)).map(([text]) => text);
}

export function nameOf({ url }: Pick<TestDatabase, 'url'>): string {
  return new URL(url).pathname.slice(1);
}

/** The same address for another role. */
export function withRole(role: string, url: string): string {
  const address = new URL(url);
  address.searchParams.set('user', role);
  return address.href;
}

/** The same address for a superuser, instead of a role of the store. */
export function privileged(url: string): string {
  const { user = '' } = new pg.Client(url);
  return [OWNER, SERVICES].includes(user) ? withRole(new pg.Client(serverUrl()).user ?? '', url) : url;
}

/** A new connection for preparing and observing, with the rights of a superuser. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(privileged(url));
  await client.connect();
  return client;
}

/** Runs a statement on a new connection of `connectTo` and returns its rows. */
export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values?: unknown[],
): Promise<readonly Row[]> {
  const client = await connectTo(url);
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
  return serverUrl().replace(/^(\w+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}

function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error('TEST_POSTGRES_URL is not set: was Jest started without its config?');
  return url;
}
