import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { connectTo, createDatabase, freePort, type Running, type TestDatabase } from '@adoption-store/test-support';
import { addPets, expectNoFailure, issueKeys, startService } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { HAPROXY, Proxy } from '../support/proxy.js';

let database: TestDatabase;
let client: pg.Client;
let proxy: Proxy;
let origin: string;
let keys: LoadKeys;
const ports: number[] = [];
const instances: Running[] = [];

/** An instance keeps its address when it is replaced, as a container keeps its name. */
async function startInstance(index: number): Promise<void> {
  const { service } = await startService({
    DATABASE_URL: database.url,
    PORT: String(ports[index]),
    TRUST_PROXY: '127.0.0.1',
    ADDRESS_LIMIT: '5',
    LAME_DUCK: '2s',
    SHUTDOWN_TIMEOUT: '7s',
  });
  instances[index] = service;
}

async function endInstance(index: number): Promise<void> {
  expect(await instances[index]?.stop('SIGTERM')).toMatchObject({ code: 0 });
}

(HAPROXY === undefined ? describe.skip : describe)('the API behind the proxy of the compose file', () => {
  beforeAll(async () => {
    database = await createDatabase();
    client = await connectTo(database.url);
    ports.push(await freePort(), await freePort());
    await Promise.all([startInstance(0), startInstance(1)]);
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    const [API_1 = '', API_2 = ''] = ports.map((port) => `127.0.0.1:${port}`);
    proxy = await Proxy.start({ API_1, API_2, PORTAL: `127.0.0.1:${await freePort()}` });
    ({ origin } = proxy);
    await proxy.hasServers('api', 2);
  });

  afterAll(async () => {
    await proxy.stop();
    await Promise.all(instances.map((instance) => instance.stop()));
    await client.end();
    await database.drop();
  });

  /** Runs a load through the proxy during the work. Expects that no acknowledged write is lost. Returns the failures. */
  async function failuresDuring(work: (load: Load) => Promise<void>) {
    const load = new Load(origin, keys, await addPets(client, 20_000)).start({ readers: 3, writers: 3 });
    await load.answered(200);
    await work(load);
    await load.answered(200);
    await load.stop();
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
    return load.answers.filter((answer) => !isSuccess(answer));
  }

  it('fails no request while the instances are replaced one by one', async () => {
    await expectNoFailure(() =>
      failuresDuring(async (load) => {
        for (const index of [0, 1]) {
          await endInstance(index);
          await load.answered(100);
          await startInstance(index);
          // As an operator does after reading the proxy's log.
          await proxy.hasServers('api', 2);
        }
      }),
    );
  });

  it('fails no request that another instance can take when one is killed, and never repeats one that may have run', async () => {
    await expectNoFailure(async () => {
      const failed = await failuresDuring(async () => {
        await instances[0]?.stop('SIGKILL');
      });
      await startInstance(0);
      await proxy.hasServers('api', 2);
      // Writes that were on their way to the instance: their clients get 503, or no response.
      return failed.filter(({ what, status }) => what !== 'write' || ![0, 503].includes(status));
    });
  });

  it('answers each request of a frozen instance, fails none once it is out, and uses it again when it goes on', async () => {
    await expectNoFailure(async () => {
      let out = Infinity;
      const failed = await failuresDuring(async (load) => {
        instances[0]?.child.kill('SIGSTOP');
        await proxy.hasServers('api', 1);
        out = performance.now();
        // The requests of the frozen instance are answered before it continues.
        await load.settled();
        await load.answered(200, ({ begin }) => begin > out);
        instances[0]?.child.kill('SIGCONT');
        await proxy.hasServers('api', 2);
      });
      // The other instance answers the reads of the killed one. Its writes may have happened, so they aren't sent again.
      return failed.filter(({ what, status, begin }) => what === 'read' || status !== 503 || begin > out);
    });
  });

  it('counts strangers by the address that the proxy sees, whatever address they claim', async () => {
    const statuses = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const headers = { authorization: 'Bearer nobody', 'x-forwarded-for': `203.0.113.${turn}` };
      statuses.push((await fetch(`${origin}/v1/pets`, { headers })).status);
    }
    expect(statuses).toContain(429);
  });
});
