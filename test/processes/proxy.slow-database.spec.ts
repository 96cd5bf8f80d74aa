import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { connectTo, createDatabase, DatabaseGate, freePort, type TestDatabase } from '@adoption-store/test-support';
import { addPets, isLate, issueKeys } from '../support/faults.js';
import { type Answer, isSuccess, Load, type LoadKeys } from '../support/load.js';
import { HAPROXY, Proxy } from '../support/proxy.js';
import { type Api, startApi } from '../support/services.js';

/** Requests of each comparison. */
const REQUESTS = 20;

(HAPROXY === undefined ? describe.skip : describe)('the proxy, while the database is slow,', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let gate: DatabaseGate;
  let instances: Api[];
  let proxy: Proxy;
  let keys: LoadKeys;

  beforeAll(async () => {
    database = await createDatabase();
    client = await connectTo(database.url);
    gate = await DatabaseGate.open(database.url);
    const settings = { DATABASE_URL: gate.url, TRUST_PROXY: '127.0.0.1' };
    instances = await Promise.all([startApi(settings), startApi(settings)]);
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    await addPets(client, 2);
    const [API_1 = '', API_2 = ''] = instances.map(({ origin }) => new URL(origin).host);
    proxy = await Proxy.start({ API_1, API_2, PORTAL: `127.0.0.1:${await freePort()}` });
    await proxy.hasServers('api', 2);
  });

  afterAll(async () => {
    await proxy.stop();
    await Promise.all(instances.map(({ service }) => service.stop()));
    gate.shut();
    await client.end();
    await database.drop();
  });

  /** The answers to the same reads, through the proxy and directly. */
  async function readEverywhere(): Promise<readonly (readonly Answer[])[]> {
    const origins = [proxy.origin, ...instances.map(({ origin }) => origin)];
    const loads = origins.map((origin) => new Load(origin, keys, [].values()).start({ readers: 4 }));
    await Promise.all(loads.map((load) => load.answered(REQUESTS)));
    await Promise.all(loads.map((load) => load.stop()));
    return loads.map(({ answers }) => answers);
  }

  // In this order, because a slower round trip doesn't open connections anew.
  it.each([0, 300, 600, 800])('answers as the instances do by themselves: round trips of %d ms', async (roundTrip) => {
    gate.setRoundTrip(roundTrip);
    for (const answers of await readEverywhere()) {
      // The instances have other words. On a busy machine the proxy may give up one that is late.
      expect(answers.filter((answer) => answer.body.includes('is unavailable') && !isLate(answer))).toEqual([]);
      expect(answers.some(isSuccess)).toBe(true);
    }
  });
});
