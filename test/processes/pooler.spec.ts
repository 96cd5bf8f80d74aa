import { createApplication, plan } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { runPortal } from '@adoption-store/portal/testing/portal-process';
import {
  API,
  ask,
  createDatabase,
  DatabaseGate,
  type Environment,
  KEYS,
  PgBouncer,
  pgBouncerFor,
  run,
  Running,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { addPets, expectBoundedAnswers, expectRecovery, issueKeys, startService } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';

/** Answers to wait for at each step; more takes longer and proves more. */
const ANSWERS = Number(process.env['POOLER_ANSWERS'] ?? 300);
/** Milliseconds: a process that isn't notified asks for a key that it has just seen after 500 ms. */
const AT_ONCE = 400;

const startPooler = pgBouncerFor('all processes behind a pooler in transaction mode');

(startPooler ? describe : describe.skip)('behind a pooler in transaction mode', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let gate: DatabaseGate;
  let settings: Environment;
  let client: pg.Client;
  let keys: LoadKeys;
  let pets: Iterator<number>;
  let origins: readonly string[];
  let portal: string;
  const running: Running[] = [];
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    pooler = await PgBouncer.start(database.url);
    gate = await DatabaseGate.open(database.url);
    settings = {
      DATABASE_URL: pooler.urlOf(database.url),
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: gate.url,
    };
    client = new pg.Client(database.url);
    await client.connect();
    const worker = new Running(WORKER, [], { ...settings, WORKER_PORT: '0' });
    const [one, other, pages] = await Promise.all([
      startService(settings),
      startService(settings),
      runPortal(pooler.urlOf(database.url), settings),
      worker.prints(/^The worker is ready/m),
    ]);
    origins = [one.origin, other.origin];
    portal = pages.origin;
    running.push(one.service, other.service, pages.process, worker);
    keys = await issueKeys(settings, client);
    pets = await addPets(client, 20_000);
  });

  afterAll(async () => {
    await Promise.all([...running.map((each) => each.stop()), ...closing.map((close) => close())]);
    await client.end();
    gate.shut();
    await pooler.close();
    await database.drop();
  });

  const loads = () =>
    origins.map((origin) => new Load(origin, keys, pets).start({ readers: 4, writers: 4, strangers: 1 }));

  async function ready(status: number): Promise<void> {
    for (const origin of [...origins, portal])
      await until(async () => (await fetch(`${origin}/readyz`)).status === status);
  }

  async function expectNothingLost(all: readonly Load[]): Promise<void> {
    for (const load of all) expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
  }

  it('two APIs, a portal and a worker work under load: no request fails, and every message is sent', async () => {
    const before = await pooler.transactions(database.url);
    const all = loads();
    await Promise.all(all.map((load) => load.answered(ANSWERS)));
    const form = await fetch(`${portal}/sign-in`);
    await Promise.all(all.map((load) => load.stop()));
    expect(form.status).toBe(200);
    const failed = all.flatMap(({ answers }) =>
      answers.filter((answer) => !(answer.what === 'stranger' ? answer.status === 401 : isSuccess(answer))),
    );
    expect(failed).toEqual([]);
    await expectNothingLost(all);
    await until(async () => (await ask(database.url, `SELECT FROM messages WHERE status <> 'sent'`)).length === 0);
    expect(await ask(database.url, 'SELECT FROM messages')).not.toEqual([]);
    expect((await pooler.transactions(database.url)) - before).toBeGreaterThan(ANSWERS / 2);
  });

  it('every process notices at once that another has revoked a key', async () => {
    const { ports, close } = await openInfrastructure({
      databaseUrl: pooler.urlOf(database.url),
      directDatabaseUrl: database.url,
      poolSize: 2,
    });
    closing.push(close);
    const { openAccount, issueKey, revokeKey } = createApplication(ports);
    const { id: accountId } = await openAccount.execute({ email: 'revoked-now@example.com', plan: plan('business') });
    const took: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { key, text } = await issueKey.execute({ accountId });
      const statusAt = async (origin: string) =>
        (await fetch(`${origin}/v1/pets/1`, { headers: { authorization: `Bearer ${text}` } })).status;
      for (const origin of origins) expect(await statusAt(origin)).not.toBe(401);
      const begin = performance.now();
      await revokeKey.execute({ accountId, id: key.id });
      for (const origin of origins) await until(async () => (await statusAt(origin)) === 401);
      took.push(performance.now() - begin);
    }
    const [median = Infinity] = took.sort((one, other) => one - other).slice(2);
    expect(median).toBeLessThan(AT_ONCE);
  });

  it('a lost direct address fails no request: reads go through the pooler until it is back', async () => {
    const all = loads();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(all.map((load) => load.answered(ANSWERS / 3)));
      gate.shut();
      const before = await pooler.transactions(database.url);
      await Promise.all(all.map((load) => load.answered(ANSWERS / 3)));
      expect((await pooler.transactions(database.url)) - before).toBeGreaterThan(ANSWERS / 3);
      await gate.reopen();
    }
    await Promise.all(all.map((load) => load.stop()));
    const failed = all.flatMap(({ answers }) => answers.filter((answer) => answer.status >= 500));
    expect(failed).toEqual([]);
    await expectNothingLost(all);
  });

  it('a killed pooler is 503 and unready until it is back, and nothing is lost or wrong', async () => {
    const all = loads();
    await Promise.all(all.map((load) => load.answered(ANSWERS / 3)));
    await pooler.kill();
    await ready(503);
    await pooler.startAgain();
    const back = performance.now();
    await ready(200);
    await Promise.all(all.map((load) => load.answered(ANSWERS / 3)));
    await Promise.all(all.map((load) => load.stop()));
    for (const { answers } of all) {
      expectBoundedAnswers(answers);
      expect(answers.some(({ status }) => status === 503)).toBe(true);
      expectRecovery(answers, back);
    }
    await expectNothingLost(all);
  });

  it('a process without the setting ends with a sentence that names it', async () => {
    const tolerant = await PgBouncer.start(database.url, {
      ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout,lock_timeout',
    });
    const ended = await Promise.all(
      [API, WORKER, KEYS].flatMap((program) =>
        [pooler, tolerant].map((each) =>
          run(program, program === KEYS ? ['create', '--email', 'dev@example.com'] : [], {
            DATABASE_URL: each.urlOf(database.url),
          }),
        ),
      ),
    );
    await tolerant.close();
    const sentence =
      /^the database of DATABASE_URL \(127\.0\.0\.1:\d+\/\w+\) can't be used: .+: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the address of PostgreSQL itself\n$/;
    for (const end of ended)
      expect(end).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it('a process whose sessions lack their settings ends with a sentence that has them', async () => {
    const bare = await PgBouncer.start(database.url, {}, 'SELECT');
    const end = await run(API, [], { ...settings, DATABASE_URL: bare.urlOf(database.url) });
    await bare.close();
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain('give them "SET ');
  });
});
