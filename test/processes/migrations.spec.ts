import { createDatabase, MIGRATE, Running, type TestDatabase, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { AllOperations } from '../support/all-operations.js';
import { issueKeys, startService } from '../support/faults.js';
import { expectNothingFailed, migrationsOf, revertTo, VERSION_BEFORE } from '../support/pending-migrations.js';
import { fills, YEAR } from '../support/year-rows.js';

/** The share of a large store's rows after a year. More take longer and prove more. */
const SCALE = Number(process.env['MIGRATION_SCALE'] ?? 0.01);
/** Milliseconds for the rows of a whole year. */
const FILLING = 20 * 60_000;

let database: TestDatabase;
let services: readonly Awaited<ReturnType<typeof startService>>[] = [];
let pending: readonly string[];
let client: pg.Client;
let traffic: AllOperations;

beforeAll(
  async () => {
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    // Without triggers and foreign keys: they would be checked for each row.
    await client.query('SET session_replication_role = replica');
    for (const text of fills({ accounts: YEAR.accounts * SCALE, animals: YEAR.animals * SCALE }))
      await client.query(text);
    await client.query('SET session_replication_role = origin');
    await client.query('VACUUM ANALYZE');
    const settings = { DATABASE_URL: database.url };
    services = await Promise.all([startService(settings), startService(settings)]);
    const { key } = await issueKeys(settings, client);
    pending = await revertTo(VERSION_BEFORE, database.url);
    const origins = services.map(({ origin }) => origin);
    traffic = new AllOperations(origins, key);
  },
  30_000 + SCALE * FILLING,
);

afterAll(async () => {
  await traffic.stop();
  await client.end();
  await Promise.all(services.map(({ service }) => service.stop()));
  await database.drop();
});

it(
  'the migrations since the version before fail no request, and each request is answered within 2 s',
  async () => {
    await traffic.goesOn(200);
    const begun = performance.now();
    const migrating = new Running(MIGRATE, [], { DATABASE_URL: database.url });
    const ends = new Map<string, number>();
    await until(
      async () => {
        for (const name of await migrationsOf(database.url))
          if (!ends.has(name)) ends.set(name, Math.round(performance.now() - begun));
        return migrating.child.exitCode !== null;
      },
      { within: 20_000 + SCALE * FILLING },
    );
    const { stderr, ...finished } = await migrating.finished();
    expect(finished).toEqual({ code: 0, stdout: 'The schema is up to date.\n' });
    // It may have to wait for a request that uses its table.
    expect(stderr.replace(/^A migration waits for a table .*\n/gm, '')).toBe('');
    await traffic.goesOn(200);
    await expectNothingFailed(traffic);
    expect([...ends.keys()].slice(-pending.length)).toEqual(pending);
    if (process.env['MIGRATION_SCALE'] !== undefined) {
      const times = pending.map((name) => `${name} after ${ends.get(name) ?? NaN} ms`).join(', ');
      const { took, what } = traffic.longest;
      console.log(`${times}; ${traffic.count} requests, none failed, the longest ${took} ms (${what})`);
    }
  },
  60_000 + SCALE * FILLING,
);
