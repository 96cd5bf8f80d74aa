import { createDatabase, type Environment } from '@adoption-store/test-support';
import { issueKey, startApi } from './services.js';

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Two API processes on one new database, and a client whose key has enough quota for every test. */
export async function startReplicas(settings: Environment = {}) {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, ...settings };
  const started = await Promise.all([startApi(environment), startApi(environment)]);
  const key = await issueKey(environment, 'racer@example.com');
  const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const stop = () => Promise.all(started.map(({ service }) => service.stop()));
  return {
    databaseUrl: database.url,
    /** The address of the replica whose turn it is. */
    originOf: (turn: number) => started[turn % 2]?.origin ?? '',
    /** A key of that account with enough quota for every test. */
    issueKey: (email: string) => issueKey(environment, email),
    async send(method: string, url: string, body?: object, headers?: Readonly<Record<string, string>>) {
      const init = { method, headers: { ...own, ...headers }, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(url, init);
      return { status: response.status, text: await response.text() };
    },
    stop,
    async close() {
      await stop();
      await database.drop();
    },
  };
}
