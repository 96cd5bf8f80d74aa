import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import openPostgres, {
  createDatabase,
  FROM_SOURCES,
  type TestDatabase,
} from '@adoption-store/test-support/global-setup';

declare global {
  var sharedApi: { readonly server: ChildProcess; readonly database: TestDatabase } | undefined;
}

/**
 * One API for all specs that need no clock, database or settings of their own. They speak only HTTP to it. It is a
 * process of its own: Jest loads this file without the resolver that reads sources.
 */
export default async function globalSetup(...run: Parameters<typeof openPostgres>): Promise<void> {
  await openPostgres(...run);
  const database = await createDatabase();
  const server = fork(join(__dirname, 'shared-server.ts'), [database.url], FROM_SOURCES);
  globalThis.sharedApi = { server, database };
  const ended = once(server, 'exit').then(([code]) => Promise.reject(new Error(`the shared API ended with ${code}`)));
  const [{ api, keys }] = (await Promise.race([once(server, 'message'), ended])) as [{ api: string; keys: string }];
  process.env['TEST_SHARED_API'] = api;
  process.env['TEST_SHARED_KEYS'] = keys;
}
