import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { folderOf, type Running, until } from '@adoption-store/test-support';
import { FailoverCluster } from '../support/failover-cluster.js';
import { addPets, expectBoundedAnswers, issueKeys, startService } from '../support/faults.js';
import { type Answer, isSuccess, Load, type LoadKeys } from '../support/load.js';

/** Failovers. More take longer and prove more. */
const ROUNDS = Number(process.env['FAILOVER_ROUNDS'] ?? 2);
/** Milliseconds from the promotion until no write fails any more. */
const LONGEST_RECOVERY = 5_000;
/** Milliseconds for which there is no primary: longer than any timeout, so that the pools reach the standby. */
const GAP = 2_000;

const bin = folderOf('failover', 'postgresql', 'pg_basebackup', 'initdb', 'postgres');

(bin === undefined ? describe.skip : describe)('two API processes, when PostgreSQL fails over to its standby,', () => {
  let cluster: FailoverCluster;
  let services: readonly { readonly service: Running; readonly origin: string }[] = [];
  let keys: LoadKeys;
  let pets: Iterator<number>;

  beforeAll(async () => {
    cluster = await FailoverCluster.start(bin ?? '');
    const settings = { DATABASE_URL: cluster.url };
    services = await Promise.all([startService(settings), startService(settings)]);
    const client = await cluster.connect();
    keys = await issueKeys(settings, client);
    pets = await addPets(client, 20_000 * ROUNDS);
    await client.end();
  }, 60_000);

  afterAll(async () => {
    await Promise.all(services.map(({ service }) => service.stop()));
    await cluster.close();
  });

  const sinceOf = (answers: readonly Answer[], begun: number) =>
    Math.round(Math.max(0, ...answers.map(({ end }) => end - begun)));

  it.each(
    Array.from({ length: ROUNDS }, (_, round) => [round + 1, round % 2 === 0 ? 'a demoted' : 'a killed'] as const),
  )(
    'round %d, %s primary: all requests reach the new one within 5 s, no write is lost, and none doubled',
    async (round, kind) => {
      const loads = services.map(({ origin }) => new Load(origin, keys, pets).start({ readers: 2, writers: 6 }));
      const failOver = async () => {
        await Promise.all(loads.map((load) => load.answered(100, isSuccess)));
        await (kind === 'a demoted' ? cluster.demote() : cluster.kill());
        const gone = performance.now();
        await until(() => performance.now() - gone > GAP);
        const begun = await cluster.promote();
        await until(() => performance.now() - begun > LONGEST_RECOVERY);
        return { promoted: begun, leftBehind: await cluster.leftBehind() };
      };
      const stop = () => Promise.all(loads.map((load) => load.stop()));
      const { promoted, leftBehind } = await failOver().finally(stop);
      expect(leftBehind).toBe(0);
      const answers = loads.flatMap((load) => load.answers);
      const writes = answers.filter(({ what, begin }) => what === 'write' && begin > promoted);
      const recovery = sinceOf(
        writes.filter((answer) => !isSuccess(answer)),
        promoted,
      );
      const wanted = writes.filter(({ begin }) => begin > promoted + recovery);
      expect(wanted.length).toBeGreaterThan(50);
      expectBoundedAnswers(answers);
      for (const [index, load] of loads.entries()) {
        const retried = await load.retryAt(services[index]?.origin ?? '');
        expect(retried.filter((answer) => !isSuccess(answer) && answer.status !== 409)).toEqual([]);
      }
      const client = await cluster.connect();
      const losses = await Promise.all(loads.map((load) => load.losses(client)));
      await client.end();
      expect(losses).toEqual(loads.map(() => ({ lost: [], doubled: [] })));
      expect(recovery).toBeLessThan(LONGEST_RECOVERY);
      const acknowledged = loads.reduce((sum, load) => sum + load.acknowledged, 0);
      const failed = answers.filter((answer) => !isSuccess(answer)).length;
      if (process.env['FAILOVER_ROUNDS'] !== undefined) {
        const figures = `${acknowledged} writes acknowledged, 0 lost, 0 doubled, ${failed} of ${answers.length} 503`;
        console.log(`round ${round}, ${kind} primary: the last write failed after ${recovery} ms; ${figures}`);
      }
      await cluster.addStandby();
    },
    60_000,
  );
});
