import { freePort } from './processes.js';
import { isRedisInstalled, RedisServer, type RedisSettings } from './redis.js';
import { until } from './until.js';

const SLOTS = 16_384;
/** Milliseconds without an answer after which the nodes replace a primary by its replica. */
const NODE_TIMEOUT = 1_000;

/** Starts a new cluster of three primaries. Undefined, with a warning, if there is no redis-server. */
export function redisClusterFor(
  suite: string,
  replicas = 0,
  settings: RedisSettings = {},
): (() => Promise<RedisCluster>) | undefined {
  return isRedisInstalled(suite) ? () => RedisCluster.start(replicas, settings) : undefined;
}

/** A Redis Cluster. The first primaries have a replica each. */
export class RedisCluster {
  private constructor(
    readonly primaries: readonly [RedisServer, RedisServer, RedisServer],
    readonly replicas: readonly RedisServer[],
  ) {}

  static async start(replicas: number, settings: RedisSettings): Promise<RedisCluster> {
    const open = async () =>
      RedisServer.start({
        'cluster-enabled': 'yes',
        'cluster-node-timeout': String(NODE_TIMEOUT),
        'cluster-port': String(await freePort()),
        ...settings,
      });
    const primaries = await Promise.all([open(), open(), open()]);
    const cluster = new RedisCluster(primaries, await Promise.all(Array.from({ length: replicas }, open)));
    await cluster.join();
    return cluster;
  }

  /** The addresses, as REDIS_URL has them. */
  get addresses(): string {
    return this.primaries.map(({ port, tlsPort }) => `127.0.0.1:${tlsPort ?? port}`).join(',');
  }

  get urls(): readonly string[] {
    return this.primaries.map(({ url }) => url);
  }

  /** The primary that has this slot at the start. */
  primaryOf(slot: number): RedisServer | undefined {
    return this.primaries.find((_, index) => slot < firstSlotOf(index + 1));
  }

  async close(): Promise<void> {
    await Promise.all([...this.primaries, ...this.replicas].map((node) => node.close()));
  }

  private async join(): Promise<void> {
    const all = [...this.primaries, ...this.replicas];
    const [first] = this.primaries;
    const busPort = async (node: RedisServer) => /@(\d+)/.exec(await node.ask('CLUSTER NODES'))?.[1];
    for (const [index, node] of this.primaries.entries()) {
      await node.ask(`CLUSTER ADDSLOTSRANGE ${firstSlotOf(index)} ${firstSlotOf(index + 1) - 1}`);
    }
    for (const [index, node] of all.entries()) await node.ask(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    const every = async (text: string) =>
      (await Promise.all(all.map((node) => node.ask('CLUSTER INFO')))).every((info) => info.includes(text));
    const address = `127.0.0.1 ${first.tlsPort ?? first.port} ${await busPort(first)}`;
    let askAgainAt = 0;
    await until(async () => {
      // A node gives up what isn't answered within NODE_TIMEOUT, as on a busy machine.
      if (performance.now() >= askAgainAt) {
        for (const node of all) if (node !== first) await node.ask(`CLUSTER MEET ${address}`);
        askAgainAt = performance.now() + 2 * NODE_TIMEOUT;
      }
      return every(`cluster_known_nodes:${all.length}`);
    });
    for (const [index, replica] of this.replicas.entries()) {
      await replica.ask(`CLUSTER REPLICATE ${await this.primaries[index]?.ask('CLUSTER MYID')}`);
    }
    await until(() => every('cluster_state:ok'));
    for (const replica of this.replicas) {
      await until(async () => (await replica.ask('INFO replication')).includes('master_link_status:up'));
    }
  }
}

function firstSlotOf(primary: number): number {
  return Math.floor((primary * SLOTS) / 3);
}
