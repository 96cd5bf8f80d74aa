import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { runPortal } from '@adoption-store/portal/testing/portal-process';
import { folderOf, Running, temporaryFolder, until, WORKER } from '@adoption-store/test-support';
import { type Addresses, FailoverCluster } from '../support/failover-cluster.js';
import { addPets, expectBoundedAnswers, issueKeys, startService } from '../support/faults.js';
import { type Answer, isSuccess, Load, type LoadKeys } from '../support/load.js';
import { runScript } from '../support/operator-scripts.js';

const KINDS = ['demoted', 'killed', 'frozen'] as const;
/** Failovers. More take longer and prove more. */
const ROUNDS = Number(process.env['FAILOVER_ROUNDS'] ?? KINDS.length);
/** How each of the APIs reaches the pair. */
const ADDRESSES: readonly Addresses[] = ['one that moves', 'each', 'each, with TLS'];
/** Milliseconds from the promotion until no write fails any more. */
const LONGEST_RECOVERY = 5_000;
/** Milliseconds for which there is no primary: longer than any timeout, so that the pools reach the standby. */
const GAP = 2_000;

const bin = folderOf('failover', 'postgresql', 'pg_basebackup', 'initdb', 'postgres');

(bin === undefined ? describe.skip : describe)('processes whose PostgreSQL fails over to its standby', () => {
  let cluster: FailoverCluster;
  const running: Running[] = [];
  let origins: readonly string[] = [];
  let portal: string;
  let keys: LoadKeys;
  let pets: Iterator<number>;

  beforeAll(async () => {
    cluster = await FailoverCluster.start(bin ?? '');
    const settings = { DATABASE_URL: cluster.urlOf('each socket') };
    const services = await Promise.all(ADDRESSES.map((each) => startService({ DATABASE_URL: cluster.urlOf(each) })));
    origins = services.map(({ origin }) => origin);
    const worker = new Running(WORKER, [], { ...settings, WORKER_PORT: '0', LOG_LEVEL: 'fatal' });
    const { origin, process } = await runPortal(cluster.urlOf('each, with TLS'));
    portal = origin;
    running.push(...services.map(({ service }) => service), worker, process);
    const client = await cluster.connect();
    keys = await issueKeys(settings, client);
    pets = await addPets(client, 20_000 * ROUNDS);
    await client.end();
  });

  afterAll(async () => {
    await Promise.all(running.map((each) => each.stop()));
    await cluster.close();
  });

  const lastFailure = (answers: readonly Answer[], begun: number) =>
    answers
      .filter((answer) => answer.what === 'write' && answer.end > begun && !isSuccess(answer))
      .reduce((most, { end }) => Math.max(most, Math.round(end - begun)), 0);

  it.each(Array.from({ length: ROUNDS }, (_, round) => [round + 1, KINDS[round % KINDS.length] ?? 'killed'] as const))(
    'round %d, a %s primary: all requests reach the new one within 5 s, no write is lost, and none doubled',
    async (round, kind) => {
      const loads = origins.map((origin) => new Load(origin, keys, pets).start({ readers: 1, writers: 3 }));
      const failOver = async () => {
        await Promise.all(loads.map((load) => load.answered(100, isSuccess)));
        await { demoted: () => cluster.demote(), killed: () => cluster.kill(), frozen: () => cluster.freeze() }[kind]();
        const gone = performance.now();
        await until(() => performance.now() - gone > GAP);
        const begun = await cluster.promote();
        await until(() => performance.now() - begun > LONGEST_RECOVERY);
        if (kind === 'frozen') {
          // Both accept connections now, and the former primary knows nothing of the other one.
          await cluster.thaw();
          await Promise.all(loads.map((load) => load.answered(100, isSuccess)));
          // A listener looks at its connection every 5 s.
          await until(async () => (await cluster.leftBehind()) === 0);
        }
        await until(async () => (await fetch(`${portal}/readyz`)).status === 200);
        return { promoted: begun, leftBehind: await cluster.leftBehind() };
      };
      const stop = () => Promise.all(loads.map((load) => load.stop()));
      const { promoted, leftBehind } = await failOver().finally(stop);
      expect(leftBehind).toBe(0);
      const recoveries = loads.map(({ answers }) => lastFailure(answers, promoted));
      if (process.env['FAILOVER_ROUNDS'] !== undefined) {
        const answers = loads.flatMap((load) => load.answers);
        const acknowledged = loads.reduce((sum, load) => sum + load.acknowledged, 0);
        const failed = answers.filter((answer) => !isSuccess(answer)).length;
        const times = ADDRESSES.map((each, index) => `${each}: ${recoveries[index] ?? 0} ms`).join(', ');
        const figures = `${acknowledged} writes acknowledged, ${failed} of ${answers.length} 503`;
        console.log(`round ${round}, a ${kind} primary: last write that failed: ${times}; ${figures}`);
      }
      for (const [index, load] of loads.entries()) {
        const recovered = promoted + (recoveries[index] ?? 0);
        expect(load.answers.filter(({ what, begin }) => what === 'write' && begin > recovered).length).toBeGreaterThan(
          20,
        );
        expectBoundedAnswers(load.answers);
        const retried = await load.retryAt(origins[index] ?? '');
        expect(retried.filter((answer) => !isSuccess(answer) && answer.status !== 409)).toEqual([]);
      }
      const client = await cluster.connect();
      const losses = await Promise.all(loads.map((load) => load.losses(client)));
      const sent = `SELECT FROM messages WHERE status = 'sent' AND created_at > $1 LIMIT 1`;
      const since = new Date(performance.timeOrigin + promoted);
      await until(async () => (await client.query(sent, [since])).rows.length > 0, { what: 'the worker sends' });
      await client.end();
      expect(losses).toEqual(loads.map(() => ({ lost: [], doubled: [] })));
      expect(Math.max(...recoveries)).toBeLessThan(LONGEST_RECOVERY);
      await cluster.addStandby();
    },
    60_000,
  );

  it('a backup reads the same DATABASE_URL, whatever the order of the servers', async () => {
    const folder = await temporaryFolder();
    for (const [index, each] of ADDRESSES.entries()) {
      const file = join(folder.path, `${index}.dump`);
      expect(await runScript(bin, 'backup.sh', { DATABASE_URL: cluster.urlOf(each) }, file)).toMatchObject({ code: 0 });
    }
    await folder.remove();
  });
});
