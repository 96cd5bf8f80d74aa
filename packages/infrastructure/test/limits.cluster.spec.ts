import { type BanPolicy, DEFAULT_BAN_POLICY, type KeyRequester } from '@adoption-store/domain';
import { requestCounterSuite } from '@adoption-store/domain/testing';
import { type RedisCluster, redisClusterFor, type RedisServer, until } from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import slotOf from 'cluster-key-slot';
import { Redis } from 'ioredis';
import { type CreatedRequestCounter, createRequestCounter } from '../src/limits/create-request-counter.js';
import { RedisRequestCounter } from '../src/limits/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';
import { framework } from './framework.js';
import { ANY_CLOCK, newRequester, nextTurn, noon, TIMEOUT } from './limits.counters.js';

const keyOf = ({ accountId }: KeyRequester) => `quota:account:${accountId}`;

/** A loss or a return of Redis that an instance reports. */
interface Change {
  readonly isShared: boolean;
  /** The number of requests that it had decided alone by then. */
  readonly alone: number;
}

/** An instance's request counter, and what it has reported. */
interface Instance extends CreatedRequestCounter {
  readonly history: readonly Change[];
  readonly isShared: () => boolean;
}

async function openInstance({ dataSource }: Database, redis: readonly string[]): Promise<Instance> {
  const history: Change[] = [];
  const isShared = () => history.at(-1)?.isShared === true;
  let opened: CreatedRequestCounter | undefined = undefined as CreatedRequestCounter | undefined;
  opened = await createRequestCounter({
    redis,
    // Long enough for a loaded machine.
    redisTimeout: 2_000,
    redisTolerance: ANY_CLOCK,
    dataSource,
    // No bans, so that every refusal is one by the limit.
    policy: { ...DEFAULT_BAN_POLICY, refusals: 1_000_000 },
    onEvent: () => undefined,
    onRedisState: (failure) => {
      const isUp = failure === undefined;
      if (history.at(-1)?.isShared !== isUp) history.push({ isShared: isUp, alone: opened?.fallbacks() ?? 0 });
    },
  });
  return { ...opened, history, isShared };
}

const ACCOUNTS = 20;
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
  const newRequesters = () => Array.from({ length: ACCOUNTS }, newRequester);

  it('admit exactly the limit of each of many accounts to four instances, one of which knows a single address', async () => {
    const instances = await Promise.all([openShared(), openShared(), openShared(), openShared(nodes().urls.slice(2))]);
    const requesters = newRequesters();
    const admitted = await Promise.all(
      requesters.map(async (requester) => {
        const verdicts = await Promise.all(
          instances.flatMap((instance) =>
            Array.from({ length: 15 }, () => instance.count({ requester, limits, now: noon })),
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

  it('admit no request above the limit but those decided alone or not replicated, where a primary is killed', async () => {
    const [killed] = nodes().primaries;
    const [replica] = nodes().replicas;
    if (replica === undefined) throw new Error('it has none');
    const instances = await Promise.all(Array.from({ length: INSTANCES }, () => openInstance(database, nodes().urls)));
    for (const instance of instances) closing.push(() => instance.close());
    const requesters = Array.from({ length: ACCOUNTS }, () => requesterAt(killed));
    const most = { perMinute: 150, perDay: 150 };
    const [admitted, told] = [new Map<KeyRequester, number>(), new Map<KeyRequester, number>()];
    const refused = new Set<KeyRequester>();
    const sum = (values: Iterable<number>) => [...values].reduce((total, each) => total + each, 0);
    let isRunning = true;
    const senders = instances.map(async ({ counter, fallbacks }) => {
      const send = async (requester: KeyRequester) => {
        const { outcome, day } = await counter.count({ requester, limits: most, now: noon });
        if (fallbacks() === 0) told.set(requester, Math.max(told.get(requester) ?? 0, day.used));
        if (outcome === 'admitted') admitted.set(requester, (admitted.get(requester) ?? 0) + 1);
        else refused.add(requester);
      };
      while (isRunning) {
        await Promise.all(requesters.map(send));
        await nextTurn();
      }
    });
    await until(() => sum(admitted.values()) > (ACCOUNTS * most.perDay) / 3);
    await killed.kill();
    await until(() => instances.every(({ isShared }) => !isShared()));
    // Counted before the replica is promoted.
    const client = new Redis(replica.url, { readOnly: true });
    let lost = 0;
    for (const [requester, used] of told) {
      const [, known = 0] = ((await client.get(keyOf(requester))) ?? '').split(' ').map(Number);
      lost += Math.max(0, used - known);
    }
    client.disconnect();
    await until(() => instances.every(({ isShared }) => isShared()));
    refused.clear();
    await until(() => refused.size === ACCOUNTS);
    isRunning = false;
    await Promise.all(senders);
    const above = [...admitted.values()].map((count) => Math.max(0, count - most.perDay));
    expect(sum(above)).toBeLessThanOrEqual(sum(instances.map(({ fallbacks }) => fallbacks())) + lost);
    expect(sum(admitted.values())).toBeGreaterThanOrEqual(ACCOUNTS * most.perDay);
    for (const { history, fallbacks } of instances) {
      // Later a busy machine may answer too late.
      expect(history.slice(0, 3).map(({ isShared }) => isShared)).toEqual([true, false, true]);
      // While an instance says that limits are shared, it decides nothing alone.
      for (const [index, { isShared, alone }] of history.entries())
        if (isShared) expect(history[index + 1]?.alone ?? fallbacks()).toBe(alone);
    }
    await killed.startAgain();
  });

  it('count on the successor of a primary that is frozen, which neither answers nor closes its connections', async () => {
    // Since the test before, these two have changed roles.
    const [successor] = nodes().primaries;
    const [frozen] = nodes().replicas;
    await until(async () => (await successor.ask('INFO replication')).includes('master_link_status:up'));
    const instance = await openInstance(database, nodes().urls.slice(1));
    closing.push(() => instance.close());
    const requester = requesterAt(successor);
    const count = () => instance.counter.count({ requester, limits, now: noon });
    await count();
    frozen?.freeze();
    closing.push(() => frozen?.thaw());
    await count();
    expect([instance.isShared(), instance.fallbacks()]).toEqual([false, 1]);
    await until(() => instance.isShared());
    await count();
    // The first one may not be replicated.
    expect(await successor.ask(`GET ${keyOf(requester)}`)).toMatch(/^\d+ ([12]) \d+ \1$/);
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
