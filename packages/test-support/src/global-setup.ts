import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
// Jest loads this file without the resolver that maps .js imports to .ts files.
import { refuseStaleBuild } from './compiled.ts';
import { createDatabase, nameOf, type TestDatabase } from './database.ts';

// For a workspace whose own global setup needs more than the server.
export { ask, createDatabase, type TestDatabase } from './database.ts';

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
  refuseStaleBuild(rootDir, join(__dirname, '../../..'));
  if (process.env['TEST_POSTGRES_URL'] === undefined) await startPostgres();
  if (globals.migrations === undefined || process.env['TEST_DATABASE_TEMPLATE'] !== undefined) return;
  const template = await createDatabase();
  globalThis.testTemplate = template;
  // The compiled one: Jest loads this file without the resolver that reads sources.
  const { migrate } = (await import(globals.migrations)) as {
    readonly migrate: (connection: { readonly connectionString: string }) => Promise<void>;
  };
  await migrate({ connectionString: template.url });
  process.env['TEST_DATABASE_TEMPLATE'] = nameOf(template);
}

async function startPostgres(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'adoption-store-test-'));
  // Nothing here needs to survive a power cut. Suites that kill servers start their own.
  const server = await openEmbeddedPostgres({
    dataDirectory,
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  globalThis.testPostgres = { server, dataDirectory };
  process.env['TEST_POSTGRES_URL'] = server.url;
}
