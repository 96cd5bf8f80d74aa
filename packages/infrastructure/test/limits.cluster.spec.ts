import { type BanPolicy, DEFAULT_BAN_POLICY, type KeyRequester } from '@adoption-store/domain';
import { requestCounterSuite } from '@adoption-store/domain/testing';
import { type RedisCluster, redisClusterFor, type RedisServer, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import slotOf from 'cluster-key-slot';
import { Redis } from 'ioredis';
import { createRequestCounter } from '../src/limits/create-request-counter.js';
import { RedisRequestCounter } from '../src/limits/redis-request-counter.js';
import { closedAfterEach, type Database, openDatabase } from './databases.js';
import { framework } from './framework.js';
import { ANY_CLOCK, newRequester, noon, TIMEOUT } from './limits.counters.js';

const keyOf = ({ accountId }: KeyRequester) => `quota:account:${accountId}`;

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
  RedisRequestCounter.connect(urls, policy, TIMEOUT, ANY_CLOCK);

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
  const closing = closedAfterEach();
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase();
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

  it('admit exactly the limit to four instances, one of which knows a single address, while the slot moves', async () => {
    const [from, to, third] = nodes().primaries;
    const instances = await Promise.all([openShared(), openShared(), openShared(), openShared(nodes().urls.slice(2))]);
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
    expect(await to.ask(`HGET ${keyOf(known)} usage`)).toContain(',1000,');
  });

  it('lose and double no replicated count where a primary is killed, and share again once its replica is promoted', async () => {
    const [killed] = nodes().primaries;
    const [replica] = nodes().replicas;
    const requester = requesterAt(killed);
    const instances = await Promise.all(Array.from({ length: INSTANCES }, openInstance));
    const [one] = instances;
    const send = async ({ counter }: Instance) => counter.count({ requester, limits, now: noon });
    const counts = async () => {
      const client = new Redis(replica?.url ?? '', { readOnly: true });
      const counted = await client.hget(keyOf(requester), 'usage').finally(() => {
        client.disconnect();
      });
      return Number(counted?.split(',')[1]);
    };
    for (let sent = 0; sent < 3; sent += 1) await Promise.all(instances.map(send));
    await until(async () => (await counts()) === 3 * INSTANCES);
    await killed.kill();
    if (one !== undefined) expect((await send(one)).outcome).toBe('admitted');
    await until(() => instances.every(({ isShared }) => !isShared()));
    await until(() => instances.every(({ isShared }) => isShared()));
    const alone = instances.map(({ fallbacks }) => fallbacks());
    const sent = instances.flatMap((instance) => Array.from({ length: limits.perMinute }, () => send(instance)));
    const admitted = (await Promise.all(sent)).filter(({ outcome }) => outcome === 'admitted');
    expect(admitted).toHaveLength(limits.perMinute - 3 * INSTANCES);
    // Once an instance says that limits are shared, it decides nothing alone.
    expect(instances.map(({ fallbacks }) => fallbacks())).toEqual(alone);
    await killed.startAgain();
  });

  /** An instance's request counter. */
  async function openInstance() {
    const states: boolean[] = [];
    const opened = await createRequestCounter({
      redis: nodes().urls,
      redisTimeout: TIMEOUT,
      redisTolerance: ANY_CLOCK,
      dataSource: database.dataSource,
      // No bans, so that every refusal is one by the limit.
      policy: { ...DEFAULT_BAN_POLICY, refusals: 1_000_000 },
      onEvent: () => undefined,
      onRedisState: (failure) => states.push(failure === undefined),
    });
    closing.push(() => opened.close());
    return { ...opened, isShared: () => states.at(-1) === true };
  }
  type Instance = Awaited<ReturnType<typeof openInstance>>;

  /** An account whose key is at that primary, or in that slot. */
  function requesterAt(place: RedisServer | number): KeyRequester {
    for (;;) {
      const requester = newRequester();
      const slot = slotOf(keyOf(requester));
      if (slot === place || nodes().primaryOf(slot) === place) return requester;
    }
  }
});
