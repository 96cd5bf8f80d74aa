import { createDatabase, KEYS, run } from '@adoption-store/test-support';
import { startService } from './faults.js';
import { HttpClient } from './http-client.js';

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Two API processes on one new database, and a client whose key no test exhausts. */
export async function startReplicas(settings: Readonly<Record<string, string>> = {}, maxSockets?: number) {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, ...settings };
  const started = await Promise.all([startService(environment), startService(environment)]);
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const { stdout } = await run(KEYS, ['create', '--email', 'racer@example.com', ...plan], environment);
  const client = new HttpClient(stdout.trim(), maxSockets);
  return {
    databaseUrl: database.url,
    client,
    /** The address of the replica whose turn it is. */
    originOf: (turn: number) => started[turn % 2]?.origin ?? '',
    async close() {
      client.close();
      await Promise.all(started.map(({ service }) => service.stop()));
      await database.drop();
    },
  };
}
