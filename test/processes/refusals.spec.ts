import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ask,
  createDatabase,
  DatabaseGate,
  KEYS,
  run,
  type Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

let database: TestDatabase;
let gate: DatabaseGate;
let key: string;
const started: Running[] = [];

beforeAll(async () => {
  database = await createDatabase();
  gate = await DatabaseGate.open(database.url);
  const created = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATABASE_URL: database.url });
  key = created.stdout.trim();
});

afterAll(async () => {
  await Promise.all(started.map((service) => service.stop()));
  gate.shut();
  await database.drop();
});

async function startApi(databaseUrl: string) {
  const { service, origin } = await startService({ DATABASE_URL: databaseUrl });
  started.push(service);
  const refuse = async (id: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': id };
    return (await fetch(`${origin}/v1/pets?limit=0`, { headers })).status;
  };
  return { service, origin, refuse };
}

/** The ids of the logged requests, the latest last. */
const logged = async () =>
  (await ask<{ request_id: string }>(database.url, 'SELECT request_id FROM refusals ORDER BY at, id')).map(
    ({ request_id: id }) => id,
  );

it('refused requests of two replicas are in one log, the last also after SIGTERM and an outage of the database', async () => {
  const [one, other] = await Promise.all([startApi(database.url), startApi(gate.url)]);
  expect(await one.refuse('of-one')).toBe(400);
  expect(await other.refuse('of-other')).toBe(400);
  await until(async () => (await logged()).length === 2, { what: 'both are logged' });
  expect((await logged()).sort()).toEqual(['of-one', 'of-other']);

  // Stopped before the next write is due.
  expect(await one.refuse('before-the-end')).toBe(400);
  await one.service.stop();
  expect(await logged()).toContain('before-the-end');

  expect(await other.refuse('before-the-outage')).toBe(400);
  gate.freeze();
  // The key is known to the process for a second, so the request is refused without the database.
  expect(await other.refuse('in-the-outage')).toBe(400);
  gate.thaw();
  await until(async () => (await logged()).length === 5, { what: 'those of the outage are logged' });
  expect(await logged()).toEqual(expect.arrayContaining(['before-the-outage', 'in-the-outage']));
});
