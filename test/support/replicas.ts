import { createDatabase, KEYS, run } from '@adoption-store/test-support';
import { startService } from './faults.js';

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Two API processes on one new database, and a client whose key no test exhausts. */
export async function startReplicas() {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url };
  const started = await Promise.all([startService(environment), startService(environment)]);
  const plan = ['--plan', 'enterprise', '--per-minute', '2000000000', '--per-day', '2000000000'];
  const { stdout } = await run(KEYS, ['create', '--email', 'racer@example.com', ...plan], environment);
  const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' };
  return {
    databaseUrl: database.url,
    /** The address of the replica whose turn it is. */
    originOf: (turn: number) => started[turn % 2]?.origin ?? '',
    async send(method: string, url: string, body?: object) {
      const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return { status: response.status, link: response.headers.get('link') ?? '', text: await response.text() };
    },
    async close() {
      await Promise.all(started.map(({ service }) => service.stop()));
      await database.drop();
    },
  };
}
