import { ask } from './database.js';
import { temporaryFolder } from './processes.js';

/** Starts one more PostgreSQL, with a database of that name, for a suite that moves an address to another server. */
export async function openAnotherPostgres(database: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  // Loaded here, because few suites need it.
  const { openEmbeddedPostgres } = await import('@adoption-store/embedded-postgres/testing');
  const folder = await temporaryFolder();
  const server = await openEmbeddedPostgres({ dataDirectory: folder.path, settings: { fsync: 'off' } });
  await ask(server.url, `CREATE DATABASE ${database}`);
  return {
    url: server.url.replace(/^(\w+:\/\/\/)[^?]*/, `$1${database}`),
    async close() {
      await server.close();
      await folder.remove();
    },
  };
}
