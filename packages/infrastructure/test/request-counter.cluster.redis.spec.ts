import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type BanPolicy, DEFAULT_BAN_POLICY, type KeyRequester } from '@adoption-store/domain';
import { requestCounterSuite } from '@adoption-store/domain/testing';
import {
  freePort,
  type RedisCluster,
  redisClusterFor,
  type RedisServer,
  redisServerFor,
  until,
} from '@adoption-store/test-support';
import slotOf from 'cluster-key-slot';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { framework } from './framework.js';
import { FailoverLoad, keyOf, openInstance } from './redis-failover.js';
import { ANY_CLOCK, newRequester, noon, TIMEOUT } from './request-counters.js';

const ACCOUNTS = 60;
const INSTANCES = 4;

// One primary has a replica.
const openCluster = redisClusterFor('request counters on a Redis Cluster', 1);
let cluster: RedisCluster | undefined;
const started = openCluster ?? (() => Promise.resolve(undefined));
beforeAll(async () => {
  cluster = await started();
});
afterAll(() => cluster?.close());

const connect = async (policy: BanPolicy, urls = cluster?.urls ?? []) =>
  RedisRequestCounter.connect({ urls }, policy, TIMEOUT, ANY_CLOCK);

if (openCluster !== undefined) {
  const open = async (policy: BanPolicy) => {
    const requests = await connect(policy);
    return {
      ports: { requests },
      close: async () => {
        requests.close();
      },
    };
  };
  requestCounterSuite(framework, 'Redis Cluster', open);
}

(openCluster === undefined ? describe.skip : describe)('request counters on a cluster of three primaries', () => {
  const limits = { perMinute: 40, perDay: 1_000 };
  const closing: (() => unknown)[] = [];
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(() => database.close());

  const nodes = () => {
    if (cluster === undefined) throw new Error('skipped above');
    return cluster;
  };
  async function openShared(urls?: readonly string[]): Promise<RedisRequestCounter> {
    const counter = await connect(DEFAULT_BAN_POLICY, urls ?? nodes().urls);
    closing.push(() => {
      counter.close();
    });
    return counter;
  }
  const timed = async (work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  const newRequesters = () => Array.from({ length: ACCOUNTS }, newRequester);

  it('admit exactly the limit of each of many accounts to four instances, one of which knows a single address', async () => {
    const instances = await Promise.all([openShared(), openShared(), openShared(), openShared(nodes().urls.slice(2))]);
    const requesters = newRequesters();
    const admitted = await Promise.all(
      requesters.map(async (requester) => {
        const verdicts = await Promise.all(
          instances.flatMap((instance) =>
            Array.from({ length: 25 }, () => instance.count({ requester, limits, now: noon })),
          ),
        );
        return verdicts.filter(({ outcome }) => outcome === 'admitted').length;
      }),
    );
    expect(new Set(admitted)).toEqual(new Set([limits.perMinute]));
    const sizes = await Promise.all(nodes().primaries.map((primary) => primary.ask('DBSIZE')));
    expect(sizes.filter((size) => Number(size) > 0)).toHaveLength(3);
  });

  it('admit exactly the limit while the slot of their accounts moves to another primary', async () => {
    const [from, to, third] = nodes().primaries;
    const instances = await Promise.all(Array.from({ length: INSTANCES }, () => openShared()));
    // One account has a key before the move, the other gets it during the move.
    const known = requesterAt(from);
    const slot = slotOf(keyOf(known));
    const fresh = requesterAt(slot);
    const many = { perMinute: 1_000, perDay: 2_000 };
    let admitted = 0;
    const send = async (requester: KeyRequester, count: number) => {
      const each = instances.map(async (instance) => {
        for (let sent = 0; sent < count; sent++) {
          if ((await instance.count({ requester, limits: many, now: noon })).outcome === 'admitted') admitted += 1;
        }
      });
      await Promise.all(each);
    };
    await send(known, 50);
    const steps = [
      async () => to.ask(`CLUSTER SETSLOT ${slot} IMPORTING ${await from.ask('CLUSTER MYID')}`),
      async () => from.ask(`CLUSTER SETSLOT ${slot} MIGRATING ${await to.ask('CLUSTER MYID')}`),
      () => send(fresh, 20),
      () => from.ask(`MIGRATE 127.0.0.1 ${to.port} ${keyOf(known)} 0 5000`),
      () => send(fresh, 20),
      ...[to, from, third].map(
        (node) => async () => node.ask(`CLUSTER SETSLOT ${slot} NODE ${await to.ask('CLUSTER MYID')}`),
      ),
      () => send(fresh, 260),
    ];
    const move = (async () => {
      for (const step of steps) await step();
    })();
    let isMoving = true;
    void move.finally(() => (isMoving = false));
    const goOn = () => isMoving;
    while (goOn()) await send(known, 5);
    await move;
    await send(known, 260);
    expect(admitted).toBe(2 * many.perMinute);
    expect(await to.ask(`GET ${keyOf(known)}`)).toContain(' 1000 ');
  });

  it('say why a cluster can’t be reached, to nobody else', async () => {
    const print = jest.spyOn(console, 'error');
    closing.push(() => {
      print.mockRestore();
    });
    const closed = await freePort();
    const instance = await openInstance(database, {
      urls: [`redis://127.0.0.1:${closed}`, `redis://127.0.0.1:${closed}`],
    });
    closing.push(() => instance.close());
    expect([instance.isShared(), instance.reason()]).toEqual([false, 'Connection is closed.']);
    const server = await redisServerFor('a Redis that is no cluster')?.();
    closing.push(() => server?.close());
    const other = await openInstance(database, { urls: [server?.url ?? '', server?.url ?? ''] });
    closing.push(() => other.close());
    expect([other.isShared(), other.reason()]).toEqual([false, 'ERR This instance has cluster support disabled']);
    expect(print).not.toHaveBeenCalled();
  });

  it('admit no request above the limit but those decided alone or not replicated, where a primary is killed', async () => {
    const [killed] = nodes().primaries;
    const [replica] = nodes().replicas;
    if (replica === undefined) throw new Error('it has none');
    const load = await FailoverLoad.start(database, { urls: nodes().urls });
    closing.push(() => load.close());
    await load.expectFailover(killed, replica, (key) => cluster?.primaryOf(slotOf(key)) === killed);
    await killed.startAgain();
  });

  it('count on the successor of a primary that is frozen, which neither answers nor closes its connections', async () => {
    // Since the test before, these two have changed roles.
    const [successor] = nodes().primaries;
    const [frozen] = nodes().replicas;
    await until(async () => (await successor.ask('INFO replication')).includes('master_link_status:up'));
    const instance = await openInstance(database, { urls: nodes().urls.slice(1) });
    closing.push(() => instance.close());
    const requester = requesterAt(successor);
    const count = () => instance.counter.count({ requester, limits, now: noon });
    await count();
    frozen?.freeze();
    closing.push(() => frozen?.thaw());
    const took = await timed(count);
    expect([instance.isShared(), instance.fallbacks()]).toEqual([false, 1]);
    await until(() => instance.isShared());
    await count();
    // The first one may not be replicated.
    expect(await successor.ask(`GET ${keyOf(requester)}`)).toMatch(/^\d+ ([12]) \d+ \1$/);
    expect(instance.fallbacks()).toBe(1);
    expect(took).toBeLessThan(1_000);
  });

  it('count alone while a primary without a replica is down, and together as soon as it is back', async () => {
    const [, killed] = nodes().primaries;
    const instance = await openInstance(database, { urls: nodes().urls });
    closing.push(() => instance.close());
    await killed.kill();
    await until(() => !instance.isShared());
    const requester = newRequester();
    const verdict = await instance.counter.count({ requester, limits, now: noon });
    expect([verdict.outcome, instance.fallbacks()]).toEqual(['admitted', 1]);
    await killed.startAgain();
    await until(() => instance.isShared());
    expect((await instance.counter.count({ requester, limits, now: noon })).minute.used).toBe(1);
    expect(instance.fallbacks()).toBe(1);
  });

  /** An account whose key is at that primary, or in that slot. */
  function requesterAt(place: RedisServer | number): KeyRequester {
    for (;;) {
      const requester = newRequester();
      const slot = slotOf(keyOf(requester));
      if (slot === place || nodes().primaryOf(slot) === place) return requester;
    }
  }
});
