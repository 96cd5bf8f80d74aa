import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { addPets, expectBoundedAnswers, expectNoFailure, isLate, issueKeys } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { PostgresServer } from '../support/postgres.js';
import { startApi, startWorker } from '../support/services.js';
import { type Running, until } from '@adoption-store/test-support';

describe('one API and one worker, through every fault of their PostgreSQL,', () => {
  let server: PostgresServer;
  let api: Running;
  let worker: Running;
  let origin: string;
  let keys: LoadKeys;
  let pets: Iterator<number>;
  let load: Load;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const settings = { DATABASE_URL: server.url };
    ({ service: api, origin } = await startApi(settings));
    ({ service: worker } = await startWorker({ ...settings, MESSAGE_LEASE: '2s' }));
    const client = await server.connect();
    keys = await issueKeys(settings, client);
    pets = await addPets(client, 50_000);
    await client.end();
  });

  afterAll(async () => {
    await Promise.all([api.stop(), worker.stop()]);
    await server.close();
  });

  afterEach(async () => {
    await load.stop();
  });

  async function lossesNow() {
    const client = await server.connect();
    const losses = await load.losses(client);
    await client.end();
    return losses;
  }

  /** Expects that the original worker delivers the accepted messages. */
  async function workerGoesOn(): Promise<void> {
    await until(async () => (await server.ask(`SELECT FROM messages WHERE status = 'queued' LIMIT 1`)).length === 0);
    expect(worker.child.exitCode).toBeNull();
  }

  /** A load before, during and after the fault. `end` returns when the database answers again. */
  async function goThrough(begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
    load = new Load(origin, keys, pets).start({ readers: 4, writers: 6, strangers: 1 });
    await load.answered(100, isSuccess);
    await load.burst(100);
    await begin();
    // More than the connections, so that some wait for one.
    const crowd = load.burst(50);
    await load.answered(20, ({ status }) => status === 503);
    // Each request is answered during the fault, not after it.
    await Promise.all([load.settled(), crowd]);
    await end();
    await until(async () => (await load.burst(100)).every(isSuccess));
    await load.answered(50, (answer) => answer.what === 'write' && isSuccess(answer));
    await load.stop();
    expectBoundedAnswers(load.answers);
    expect(await lossesNow()).toEqual({ lost: [], doubled: [] });
    await workerGoesOn();
    expect(api.child.exitCode).toBeNull();
  }

  it.each<[name: string, begin: () => Promise<void>, end: () => Promise<void>]>([
    ['killed by SIGKILL and started again', () => server.kill(), () => server.startAgain()],
    ['restarted', () => server.stop(), () => server.startAgain()],
    ['frozen and thawed', () => server.freeze(), () => server.thaw()],
  ])('%s', async (_name, begin, end) => {
    await goThrough(begin, end);
  });

  it.each([
    ['read-only', 'default_transaction_read_only', 'on'],
    ['without its synchronous standby, so that no commit ends', 'synchronous_standby_names', 'stopped'],
  ])('%s, when reads go on, with no more connections than before', async (_name, setting, value) => {
    const change = async (to: string) => {
      await server.ask(`ALTER SYSTEM ${to}`);
      await server.ask('SELECT pg_reload_conf()');
    };
    let connections: readonly unknown[] = [];
    await goThrough(
      () => change(`SET ${setting} = '${value}'`),
      async () => {
        connections = await server.ask(`SELECT FROM pg_stat_activity WHERE application_name = 'adoption-store'`);
        await change(`RESET ${setting}`);
      },
    );
    // Two processes, each with a pool of 10, one for readiness and one for look-ups.
    expect(connections.length).toBeLessThanOrEqual(2 * 12);
    expect(load.answers.filter((answer) => answer.what === 'read' && !isSuccess(answer) && !isLate(answer))).toEqual(
      [],
    );
  });

  it('out of connections', async () => {
    const others: pg.Client[] = [];
    const takeAll = async () => {
      // This ends the API's connections too, and it gets no new ones.
      for (;;) {
        try {
          others.push(await server.connect('postgres'));
        } catch {
          if (others.length >= 35) return;
          await others[0]?.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'store'`);
        }
      }
    };
    await goThrough(takeAll, () => Promise.all(others.map((other) => other.end())));
  });

  describe('single connections killed all the time,', () => {
    /** Kills connections one after the other, and sometimes all at once. */
    async function killConnections(count: number): Promise<void> {
      const killer = await server.connect();
      const kill = (limit: number) =>
        killer.query(
          `SELECT pg_terminate_backend(pid) FROM
             (SELECT pid FROM pg_stat_activity WHERE datname = 'store' AND pid <> pg_backend_pid()
              ORDER BY random() LIMIT $1) AS victims`,
          [limit],
        );
      for (let killed = 0; killed < count; killed += 1) {
        await kill(killed % 10 === 9 ? 100 : 1);
        await load.answered(20);
      }
      await killer.end();
    }

    it('never fails a read', async () => {
      await expectNoFailure(async () => {
        load = new Load(origin, keys, pets).start({ readers: 16 });
        await load.answered(100);
        await killConnections(100);
        await load.stop();
        return load.answers.filter((answer) => !isSuccess(answer));
      });
    });

    it('loses no acknowledged write, and fails only with 503', async () => {
      load = new Load(origin, keys, pets).start({ writers: 12, readers: 2 });
      await load.answered(100);
      await killConnections(100);
      await load.stop();
      expectBoundedAnswers(load.answers);
      expect(await lossesNow()).toEqual({ lost: [], doubled: [] });
      await workerGoesOn();
    });
  });
});
