import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDatabase, type Environment, type Running, temporaryFolder, until } from '@adoption-store/test-support';
import {
  addPets,
  countOf,
  expectBoundedAnswers,
  expectRecovery,
  issueKeys,
  startService,
  tell,
} from '../support/faults.js';
import { isSuccess, Load } from '../support/load.js';
import { urlOfCluster } from '../support/postgres.js';

/** Kills of the API with each database. More take longer and prove more. */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 1);
/** Acknowledged writes before each kill. Some more are in progress. */
const WRITES = 100;

let cleanUps: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  cleanUps = [];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

async function external(): Promise<{ settings: Environment; url: string }> {
  const database = await createDatabase();
  cleanUps.push(() => database.drop());
  return { settings: { DATABASE_URL: database.url }, url: database.url };
}

async function embedded(): Promise<{ settings: Environment & { readonly DATA_DIR: string }; url: string }> {
  const folder = await temporaryFolder();
  cleanUps.push(() => folder.remove());
  return { settings: { DATA_DIR: folder.path }, url: urlOfCluster(folder.path, 'adoption_store') };
}

it.each([
  ['a database of its own', embedded],
  ['an external database', external],
])(
  `${ROUNDS} SIGKILLs under parallel writes, on %s, lose no acknowledged write, and double none under an Idempotency-Key`,
  async (name, openDatabase) => {
    const { settings, url } = await openDatabase();
    let running: Running | undefined;
    const start = async () => {
      const { service, origin } = await startService(settings);
      running = service;
      return origin;
    };
    cleanUps.push(() => running?.stop() ?? Promise.resolve());
    let origin = await start();
    const client = new pg.Client(url);
    await client.connect();
    // Closed before the service, which stops its own database after its last user.
    cleanUps.push(() => client.end());
    const keys = await issueKeys(settings, client);
    const pets = await addPets(client, 200 * ROUNDS + 1_000);
    const totals = { acknowledged: 0, cut: 0, retried: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const load = new Load(origin, keys, pets).start({ writers: 12 });
      await load.answered(WRITES, isSuccess);
      await running?.stop('SIGKILL');
      await load.stop();
      totals.acknowledged += load.acknowledged;
      totals.cut += load.answers.filter((answer) => answer.status === 0).length;
      origin = await start();
      const retried = await load.retryAt(origin);
      totals.retried += retried.length;
      expect(retried.filter((answer) => !isSuccess(answer))).toEqual([]);
      expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
    }
    tell(
      `${ROUNDS} SIGKILLs on ${name}`,
      `${totals.acknowledged} writes acknowledged, 0 lost; ${totals.retried} retried under their key, 0 doubled`,
    );
  },
  30_000 + ROUNDS * 10_000,
);

it('an API restarts its killed PostgreSQL, and loses no acknowledged write', async () => {
  const { settings, url } = await embedded();
  const { service, origin } = await startService(settings);
  cleanUps.push(() => service.stop());
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  const load = new Load(origin, await issueKeys(settings, client), await addPets(client, 10_000));
  load.start({ readers: 2, writers: 6, strangers: 1 });
  await load.answered(WRITES, isSuccess);
  process.kill(
    Number.parseInt(await readFile(join(settings.DATA_DIR, 'postgres/postmaster.pid'), 'utf8'), 10),
    'SIGKILL',
  );
  await load.answered(1, ({ status }) => status === 503);
  const reader = await connectOnceThere(url);
  const back = performance.now();
  await until(() => performance.now() - back > 1_000);
  await load.answered(WRITES);
  await load.stop();
  expectBoundedAnswers(load.answers);
  const recovery = expectRecovery(load.answers, back);
  expect(await load.losses(reader)).toEqual({ lost: [], doubled: [] });
  await reader.end();
  expect(service.child.exitCode).toBeNull();
  tell('PostgreSQL of its own killed', `${countOf(load.answers)}; recovered after ${recovery} ms`);
});

async function connectOnceThere(url: string): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      return client;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
