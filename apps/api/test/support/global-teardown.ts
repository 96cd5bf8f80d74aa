import { once } from 'node:events';
import closePostgres from '@adoption-store/test-support/global-teardown';

export default async function globalTeardown(): Promise<void> {
  if (globalThis.sharedApi) {
    const { server, database } = globalThis.sharedApi;
    globalThis.sharedApi = undefined;
    if (server.exitCode === null) {
      server.disconnect();
      await once(server, 'exit');
    }
    await database.drop();
  }
  await closePostgres();
}
