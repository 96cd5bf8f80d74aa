import {
  ask,
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  MIGRATE,
  Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { addPets, expectBoundedAnswers, expectNoFailure, issueKeys } from '../support/faults.js';
import { isSuccess, Load } from '../support/load.js';
import { migrationsOf, revertToVersionBefore } from '../support/pending-migrations.js';
import { type Api, startApi } from '../support/services.js';

// Tables that the version before doesn't have, and a migration that gives up a lock and tries again.
expectDatabaseErrors('42P01', '55P03');

const ACCOUNTS = 20_000;

let database: TestDatabase;
let services: readonly Api[] = [];
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  client = await connectTo(database.url);
  await client.query(`INSERT INTO accounts (email, plan, created_at)
    SELECT 'account-' || n || '@example.com', 'free', now() FROM generate_series(1, ${ACCOUNTS}) AS n`);
  // Without foreign keys, because the accounts have no keys.
  await client.query('SET session_replication_role = replica');
  await client.query(`INSERT INTO usage_by_day (account_id, day, key_id, admitted, refused)
    SELECT id, current_date, id, 1, 0 FROM accounts`);
  await client.query('SET session_replication_role = origin');
  const settings = { DATABASE_URL: database.url };
  services = await Promise.all([startApi(settings), startApi(settings)]);
});

afterAll(async () => {
  await client.end();
  await Promise.all(services.map(({ service }) => service.stop()));
  await database.drop();
});

it('the migrations since the version before fail no request, and none waits for them', async () => {
  const keys = await issueKeys({ DATABASE_URL: database.url }, client);
  const pets = await addPets(client, 20_000);
  await expectNoFailure(async () => {
    const pending = await revertToVersionBefore(database.url);
    const loads = services.map(({ origin }) => new Load(origin, keys, pets).start({ readers: 3, writers: 3 }));
    const goesOn = () => Promise.all(loads.map((load) => load.answered(100)));
    await goesOn();
    const migrating = new Running(MIGRATE, [], { DATABASE_URL: database.ownerUrl });
    await until(() => migrating.child.exitCode !== null);
    const { stderr, ...finished } = await migrating.finished();
    expect(finished).toEqual({ code: 0, stdout: 'The schema is up to date.\n' });
    // The migration may have to wait for a request that uses its table.
    expect(stderr.replace(/^A migration waits for a table .*\n/gm, '')).toBe('');
    await goesOn();
    expect(await migrationsOf(database.url)).toEqual(expect.arrayContaining([...pending]));
    for (const load of loads) {
      await load.stop();
      expectBoundedAnswers(load.answers);
      expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
    }
    return loads.flatMap(({ answers }) => answers.filter((answer) => !isSuccess(answer)));
  });
});

it('a process starts on a schema that a later version has migrated, as in a rollback', async () => {
  await ask(database.url, `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`);
  const { service } = await startApi({ DATABASE_URL: database.url });
  expect(await service.stop()).toMatchObject({ code: 0 });
});
