import { testPolicy } from '@adoption-store/domain/testing';
import { type AccountId, ListEvents, newAnimal } from '@adoption-store/domain';
import { ask, openAnotherPostgres, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '../src/database/migrate.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { closedAfterEach, openAccount, openStore, setStandby } from './databases.js';

const luna = newAnimal({ name: 'Luna', categoryId: 1n });

describe('while commits wait for a synchronous standby that has stopped,', () => {
  const POOL = 5;
  let server: Awaited<ReturnType<typeof openAnotherPostgres>>;
  const closing = closedAfterEach();

  beforeAll(async () => {
    server = await openAnotherPostgres('store');
    await migrate({ connectionString: server.url });
  });
  afterAll(() => server.close());

  /** Unix sockets of this process. */
  function openSockets(): number {
    return process.getActiveResourcesInfo().filter((type) => type === 'PipeWrap').length;
  }

  async function openOnes() {
    return (await ask(server.url, `SELECT FROM pg_stat_activity WHERE application_name = 'adoption-store'`)).length;
  }

  async function open() {
    const opened = await openStore(closing, server.url, { poolSize: POOL });
    closing.push(() => setStandby(server.url, ''));
    return opened;
  }

  it('a process has as many connections as before and reads with them, its metrics tell, and it goes on by itself', async () => {
    const { ports, read, isReady } = await open();
    const { id } = await ports.animals.add(luna);
    // A reader tries to publish the event of this animal.
    const reader = new ListEvents(ports);
    await setStandby(server.url, 'nobody');
    const write = () =>
      Promise.allSettled([...Array.from({ length: POOL }, () => openAccount(ports)), ports.animals.add(luna)]);
    // A read of each path to the database.
    const reads = () =>
      Promise.all([
        ports.animals.findById(id),
        ports.apiKeys.list(),
        ports.apiKeys.findByHash('unknown'),
        reader.execute({ accountId: 1n as AccountId }),
      ]);
    const connections: number[] = [];
    for (let wave = 0; wave < 4; wave += 1) {
      const writing = write();
      await reads();
      for (const outcome of await writing)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
      connections.push(await openOnes());
    }
    // One more for readiness, and one for look-ups.
    expect(Math.max(...connections)).toBeLessThanOrEqual(POOL + 2);
    await until(() => read().pool.givenUp === POOL - 2);
    const begun = performance.now();
    await write();
    expect(performance.now() - begun).toBeLessThan(1_000);
    await until(isReady);
    await setStandby(server.url, '');
    await until(() => read().pool.givenUp === 0);
    expect((await write()).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await openOnes()).toBeLessThanOrEqual(POOL + 2);
  });

  it('a process that ends leaves no connection open, so that nothing keeps it from ending', async () => {
    const before = openSockets();
    const { ports, close } = await openInfrastructure({
      policy: testPolicy(),
      databaseUrl: server.url,
      poolSize: POOL,
    });
    closing.push(() => setStandby(server.url, ''));
    await ports.animals.add(luna);
    await setStandby(server.url, 'nobody');
    await expect(openAccount(ports)).rejects.toMatchObject({ code: 'service_unavailable' });
    await close();
    await until(() => openSockets() <= before);
  });
});
