import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ask,
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { addPets, expectNoFailure } from '../support/faults.js';
import { Follower } from '../support/follower.js';
import { isSuccess, Load } from '../support/load.js';
import { makeNextRelease } from '../support/next-release.js';
import { issueKey, startApi, startWorker } from '../support/services.js';

// A migration gives up a lock that it doesn't get, and tries again. What a killed one has begun may be in its way.
expectDatabaseErrors('55P03', '40P01');

/** More than the migration fills in one batch. */
const PETS = 12_000;

/** The last of them isn't filled while another session has the lock. A lock of its row would hold up the new column, too. */
const HOLD_LAST = `
  CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(1);
    RETURN NEW;
  END
  $$;
  CREATE TRIGGER held BEFORE UPDATE ON animals FOR EACH ROW WHEN (OLD.id = ${PETS}) EXECUTE FUNCTION wait_for_lock()`;

/** The events of what the load has done. */
const EVENTS = `
  SELECT 'pet.added ' || id AS event FROM animals WHERE name LIKE 'write %'
  UNION ALL SELECT unnest(ARRAY['order.placed ' || id, 'pet.changed ' || animal_id]) FROM orders
  UNION ALL SELECT unnest(ARRAY['order.' || status || ' ' || id, 'pet.changed ' || animal_id]) FROM orders
    WHERE status <> 'placed'
  UNION ALL SELECT 'message.sent ' || id FROM messages`;

/** How often the migration has run to its end, which initials the animals from before it have, and whether its index is valid. */
const PROGRESS = `
  SELECT (SELECT count(*)::integer FROM migrations WHERE name LIKE 'AddInitials%') AS runs,
    (SELECT array_agg(DISTINCT initial) FROM animals WHERE name = 'free') AS initials,
    (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('animals_by_initial')) AS "isIndexValid"`;
const DONE = [{ runs: 1, initials: ['F'], isIndexValid: true }];

/** How many processes wait until another one has migrated, and how many migrate. */
const SESSIONS = `
  SELECT count(*) FILTER (
      WHERE query LIKE 'SELECT pg_try_advisory_lock%'
        AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')
    )::integer AS waiting,
    count(*) FILTER (WHERE query LIKE 'ALTER TABLE%')::integer AS migrating
  FROM pg_stat_activity WHERE datname = current_database()`;

let next: Awaited<ReturnType<typeof makeNextRelease>>;
let receiver: Server;
/** The ids of the events that came by webhook. */
const received = new Set<string>();
let database: TestDatabase;
/** Another session of the database. */
let other: pg.Client;
/** What ends all that a test has started. The last comes first. */
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  next = await makeNextRelease();
  receiver = createServer((request, response) => {
    received.add(String(request.headers['webhook-id']));
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  receiver.close();
  await next.remove();
});

beforeEach(open);
afterEach(close);

async function open(): Promise<void> {
  database = await createDatabase();
  ends.push(() => database.drop());
  other = await connectTo(database.url);
  ends.push(() => other.end());
}

async function close(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** A process that is stopped at the end. */
function track<Started extends { readonly service: Running }>(started: Started): Started {
  ends.push(() => started.service.stop());
  return started;
}

function startMigrate(): Running {
  const service = new Running(next.migrate, [], { DATABASE_URL: database.ownerUrl });
  return track({ service }).service;
}

const MIGRATED = { code: 0, stdout: 'The schema is up to date.\n' };

const progress = () => ask(database.url, PROGRESS);

/**
 * Kills a `migrate` in the middle of the statement that begins so, where another transaction holds it up. The load's holds
 * are other ones: https://www.postgresql.org/docs/current/monitoring-stats.html#WAIT-EVENT-LOCK-TABLE
 */
async function killAt(statement: string, hold: string, waitEvent: 'advisory' | 'virtualxid'): Promise<void> {
  await other.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${hold}`);
  const migrating = startMigrate();
  const waits = `
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = '${waitEvent}' AND ltrim(query, E' \\n') LIKE '${statement}%'`;
  await until(async () => {
    if (migrating.child.exitCode !== null) throw new Error(`it has ended: ${migrating.stderr}`);
    return (await ask(database.url, waits)).length > 0;
  });
  expect(await migrating.stop('SIGKILL')).toMatchObject({ code: null });
}

it('a migration of a table in use, as by a backup, stops nobody for long and runs once, although two begin', async () => {
  await addPets(other, 1);
  const reader = await connectTo(database.url);
  ends.push(() => reader.end());
  await reader.query(`SET statement_timeout = '30s'`);
  // pg_dump holds this lock on every table until it ends.
  await other.query('BEGIN; LOCK TABLE animals IN ACCESS SHARE MODE');
  const both = [startMigrate(), startMigrate()];
  // Each read ends, although the lock for which the migration waits isn't free yet.
  await until(async () => {
    await reader.query('SELECT FROM animals');
    const { rows } = await reader.query<{ waiting: number; migrating: number }>(SESSIONS);
    expect(rows[0]?.migrating).toBeLessThan(2);
    return rows[0]?.waiting === 1 && both.some(({ stderr }) => stderr !== '');
  });
  await other.query('COMMIT');
  const ended = await Promise.all(both.map((each) => each.finished()));
  expect(ended).toMatchObject([MIGRATED, MIGRATED]);
  expect(ended.map(({ stderr }) => stderr).join('')).toMatch(
    /^A migration waits for a table that another transaction uses, perhaps a backup \(try 1\)\.\n/,
  );
  expect(await progress()).toEqual(DONE);
});

it('an upgrade and the way back fail no request and lose no event, also if the migration is killed', async () => {
  await expectNoFailure(async (time) => {
    if (time > 1) {
      await close();
      await open();
    }
    const settings = { DATABASE_URL: database.url, WEBHOOK_ALLOW: '127.0.0.0/8' };
    const key = await issueKey(settings, 'load@example.com');
    const pets = await addPets(other, PETS);
    await other.query(HOLD_LAST);
    const startLoad = (origin: string) => {
      const load = new Load(origin, { key, revoked: '' }, pets).start({ readers: 2, writers: 3 });
      ends.push(() => load.stop());
      return load;
    };
    const goOn = (...loads: readonly Load[]) => Promise.all(loads.map((load) => load.answered(60)));

    const old = track(await startApi(settings));
    track(await startWorker(settings));
    await addWebhook(old.origin, key);
    const follower = await new Follower(old.origin, key).start();
    ends.push(() => follower.stop());
    const oldLoad = startLoad(old.origin);
    await goOn(oldLoad);

    await killAt('WITH unfilled', 'SELECT pg_advisory_xact_lock(1)', 'advisory');
    expect(await progress()).toEqual([{ runs: 0, initials: ['F', null], isIndexValid: null }]);
    await other.query('COMMIT');
    await goOn(oldLoad);
    // An index that is built CONCURRENTLY waits for each older transaction.
    await killAt('CREATE INDEX', 'SELECT', 'virtualxid');
    expect(await progress()).toEqual([{ runs: 0, initials: ['F'], isIndexValid: false }]);
    await goOn(oldLoad);
    await other.query('COMMIT');
    expect(await startMigrate().finished()).toMatchObject(MIGRATED);
    expect(await progress()).toEqual(DONE);

    const [upgraded, worker] = await Promise.all([startApi(settings, next.api), startWorker(settings, next.worker)]);
    track(upgraded);
    track(worker);
    follower.origin = upgraded.origin;
    const upgradedLoad = startLoad(upgraded.origin);
    await goOn(oldLoad, upgradedLoad);

    // The way back: a process of this release starts on the schema of the next one.
    await upgradedLoad.stop();
    const back = track(await startApi(settings));
    follower.origin = back.origin;
    const stopped = await Promise.all([upgraded, worker].map(({ service }) => service.stop()));
    expect(stopped).toMatchObject([{ code: 0 }, { code: 0 }]);
    const backLoad = startLoad(back.origin);
    await goOn(oldLoad, backLoad);

    const loads = [oldLoad, upgradedLoad, backLoad];
    for (const load of loads) {
      await load.stop();
      expect(await load.losses(other)).toEqual({ lost: [], doubled: [] });
    }
    await until(async () => (await other.query(`SELECT FROM messages WHERE status = 'queued'`)).rows.length === 0);
    await follower.stop();
    const { rows } = await other.query<{ event: string }>(EVENTS);
    expect(follower.events.map(({ type, data }) => `${type} ${data.id}`).sort()).toEqual(
      rows.map(({ event }) => event).sort(),
    );
    await until(() => follower.events.every(({ id }) => received.has(id)));
    return [...follower.failures, ...loads.flatMap(({ answers }) => answers.filter((answer) => !isSuccess(answer)))];
  });
});

async function addWebhook(origin: string, key: string): Promise<void> {
  const response = await fetch(`${origin}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` }),
  });
  expect(response.status).toBe(201);
}
