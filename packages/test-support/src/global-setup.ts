import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
// Jest loads this file by itself, without the resolver that finds a .ts behind a .js.
import { refuseStaleBuild } from './compiled.ts';

declare global {
  var testPostgres: { readonly server: EmbeddedPostgres; readonly dataDirectory: string } | undefined;
}

/**
 * One real PostgreSQL for the whole run, the one that TEST_POSTGRES_URL names or one of our own; each suite makes
 * databases of its own in it.
 */
export default async function globalSetup({ rootDir }: { readonly rootDir: string }): Promise<void> {
  refuseStaleBuild(rootDir, join(__dirname, '../../..'));
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'adoption-store-test-'));
  // Nothing here outlives the run, so nothing need survive a power cut. Suites that kill servers start their own.
  const server = await openEmbeddedPostgres({ dataDirectory, settings: { fsync: 'off', max_connections: '200' } });
  globalThis.testPostgres = { server, dataDirectory };
  process.env['TEST_POSTGRES_URL'] = server.url;
}
