import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@adoption-store/embedded-postgres/testing';
// Jest loads this file without the resolver that maps .js imports to .ts files.
import { refuseStaleBuild } from './compiled.ts';

declare global {
  var testPostgres: { readonly server: EmbeddedPostgres; readonly dataDirectory: string } | undefined;
}

/**
 * Opens one real PostgreSQL for the whole run: the one of TEST_POSTGRES_URL, or a new one. Each suite creates its own
 * databases in it.
 */
export default async function globalSetup(): Promise<void> {
  refuseStaleBuild(join(__dirname, '../../..'));
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'adoption-store-test-'));
  // Nothing here needs to survive a power cut. Suites that kill servers start their own.
  const server = await openEmbeddedPostgres({ dataDirectory, settings: { fsync: 'off', max_connections: '200' } });
  globalThis.testPostgres = { server, dataDirectory };
  process.env['TEST_POSTGRES_URL'] = server.url;
}
