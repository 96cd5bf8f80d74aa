import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDatabase, freePort, type Running, type TestDatabase, until } from '@adoption-store/test-support';
import { addPets, countOf, issueKeys, startService, tell } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { HAPROXY, Proxy } from '../support/proxy.js';

/** Milliseconds from the moment an instance freezes, within which each request that it had is answered. */
const LONGEST_HANG = 5_000;

let database: TestDatabase;
let client: pg.Client;
let keys: LoadKeys;
let proxy: Proxy;
let instances: readonly Running[];

(HAPROXY === undefined ? describe.skip : describe)('behind the proxy, an instance of the API that is frozen', () => {
  beforeAll(async () => {
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    const started = await Promise.all(
      [1, 2].map(() => startService({ DATABASE_URL: database.url, TRUST_PROXY: '127.0.0.1' })),
    );
    instances = started.map(({ service }) => service);
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    const [API_1 = '', API_2 = ''] = started.map(({ origin }) => new URL(origin).host);
    proxy = await Proxy.start({ API_1, API_2, PORTAL: `127.0.0.1:${await freePort()}` });
    await proxy.hasServers('api', 2);
  });

  afterAll(async () => {
    await proxy.stop();
    await Promise.all(instances.map((instance) => instance.stop()));
    await client.end();
    await database.drop();
  });

  it('keeps no request for 5 s, fails none once it is out, and serves again when it goes on', async () => {
    const frozen = instances[0]?.child;
    const load = new Load(proxy.origin, keys, await addPets(client, 20_000)).start({ readers: 6, writers: 6 });
    await load.answered(200);
    const froze = performance.now();
    frozen?.kill('SIGSTOP');
    await proxy.hasServers('api', 1);
    const out = performance.now();
    await load.answered(200, ({ begin }) => begin > out);
    await until(() => performance.now() - froze > LONGEST_HANG);
    frozen?.kill('SIGCONT');
    await proxy.hasServers('api', 2);
    await load.answered(200);
    await load.stop();
    const had = load.answers.filter(({ begin, end }) => begin < out && end > froze);
    const failed = load.answers.filter((answer) => !isSuccess(answer));
    tell('frozen', `out after ${Math.round(out - froze)} ms; ${countOf(load.answers)}`);
    expect(Math.max(...had.map(({ end }) => end)) - froze).toBeLessThan(LONGEST_HANG);
    // A read that it had is answered by the other; a write that it had may have happened, so it isn't sent again.
    expect(failed.filter(({ what, status }) => what === 'read' || status !== 503)).toEqual([]);
    expect(failed.filter(({ begin }) => begin > out)).toEqual([]);
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
  });
});
