import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
import pg from 'pg';
// Jest loads this file without the resolver that maps .js imports to .ts files.
import { compiledProjects, staleBuild } from './compiled.ts';
import {
  ask,
  createDatabase,
  EMPTY,
  LOG_LINE_PREFIX,
  nameOf,
  OWNER,
  SERVICES,
  type TestDatabase,
  withRole,
} from './database.ts';

// For a workspace whose own global setup needs more than the server.
export { ask, createDatabase, type TestDatabase } from './database.ts';

/**
 * How a process runs the repository's sources, as `npm run dev` does. The loader itself makes a call that Node.js 26
 * deprecates, so only later ones fail.
 */
export const FROM_SOURCES = {
  execArgv: [
    '--disable-warning=DEP0205',
    '--import=@swc-node/register/esm-register',
    '--import=data:text/javascript,process.throwDeprecation=true',
    '--conditions=@adoption-store/source',
  ],
  env: { ...process.env, NODE_OPTIONS: '' },
};

const ROOT = join(__dirname, '../../..');

declare global {
  var testPostgres: { readonly server: EmbeddedPostgres; readonly dataDirectory: string } | undefined;
  var testTemplate: TestDatabase | undefined;
}

interface Project {
  /** A module that exports `migrate`. It migrates an empty database once, and each suite's is a copy. */
  readonly globals: { readonly migrations?: string };
}

/**
 * Opens one real PostgreSQL for the whole run: the one of TEST_POSTGRES_URL, or a new one. Each suite creates its own
 * databases in it.
 */
export default async function globalSetup(
  { rootDir }: { readonly rootDir: string },
  { globals }: Project,
): Promise<void> {
  checkBuilds(rootDir);
  const { TEST_POSTGRES_URL } = process.env;
  if (TEST_POSTGRES_URL === undefined) await startPostgres();
  else await checkLog(TEST_POSTGRES_URL);
  if (globals.migrations === undefined || process.env['TEST_DATABASE_TEMPLATE'] !== undefined) return;
  const template = await createDatabase(EMPTY);
  globalThis.testTemplate = template;
  await prepareRoles(template.url);
  // In a process of its own: Jest loads this file without the resolver that reads sources.
  const program = `import { migrate } from '${globals.migrations}';
    await migrate({ connectionString: process.argv[1] });`;
  const { execArgv, env } = FROM_SOURCES;
  const args = [...execArgv, '--input-type=module', '--eval', program, withRole(OWNER, template.url)];
  await promisify(execFile)(process.execPath, args, { cwd: rootDir, env });
  process.env['TEST_DATABASE_TEMPLATE'] = nameOf(template);
}

/** This file itself runs the compiled embedded PostgreSQL. Of the rest, a suite needs only what it starts (processes.ts). */
function checkBuilds(workspace: string): void {
  const own = staleBuild([join(ROOT, 'packages/embedded-postgres')], ROOT);
  if (own !== undefined) throw new Error(own);
  process.env['STALE_BUILD'] = staleBuild(compiledProjects(workspace, ROOT), ROOT) ?? '';
}

/** As an operator prepares a database. The roles stay on the server of TEST_POSTGRES_URL. */
async function prepareRoles(url: string): Promise<void> {
  await ask(url, await readFile(join(ROOT, 'docker/roles.sql'), 'utf8'));
  const { password } = new pg.Client(url);
  const login = password ? `LOGIN PASSWORD ${pg.escapeLiteral(password)}` : 'LOGIN';
  for (const role of [OWNER, SERVICES]) await ask(url, `ALTER ROLE ${role} ${login}`);
}

/** @throws Error if suites couldn't find their errors in the log of the server of TEST_POSTGRES_URL. */
async function checkLog(url: string): Promise<void> {
  if (process.env['TEST_POSTGRES_LOG'] === undefined) {
    const reason = 'errors that PostgreSQL logs: TEST_POSTGRES_LOG does not name the log of TEST_POSTGRES_URL';
    if (process.env['REQUIRE_PROGRAMS'] === '1') throw new Error(reason);
    console.warn(`SKIPPED: ${reason}`);
    return;
  }
  const [setting] = await ask<{ log_line_prefix: string }>(url, 'SHOW log_line_prefix');
  if (setting?.log_line_prefix !== LOG_LINE_PREFIX)
    throw new Error(`the server of TEST_POSTGRES_URL must have log_line_prefix='${LOG_LINE_PREFIX}'`);
}

async function startPostgres(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'adoption-store-test-'));
  // Nothing here needs to survive a power cut. Suites that kill servers start their own.
  const server = await openEmbeddedPostgres({
    dataDirectory,
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '200', log_line_prefix: LOG_LINE_PREFIX },
  });
  globalThis.testPostgres = { server, dataDirectory };
  process.env['TEST_POSTGRES_URL'] = server.url;
  process.env['TEST_POSTGRES_LOG'] = join(dataDirectory, 'postgres.log');
}
