import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { answerWithin } from '../kernel/answers.js';
import { keysInSlots } from './cluster-slots.js';

type Scripted<Client> = Client & {
  countRequests(keyCount: number, ...keysAndArgument: string[]): Promise<string>;
};

/** Milliseconds between attempts to connect. */
const RETRY_INTERVAL = 100;

const REDIS_PORT = 6_379;

const retryStrategy = () => RETRY_INTERVAL;

/**
 * Settings of each connection. The times are short, because a request is decided in this process instead of waiting.
 */
const CONNECTION = {
  // Applies to the client's own commands. RedisRequestCounter has a shorter timeout for decisions.
  commandTimeout: 1_000,
  connectTimeout: 500,
  // Short, because a frozen server doesn't confirm the end of a connection.
  disconnectTimeout: 200,
  // After a failover the old primary may still answer reads and refuse writes.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  connectionName: 'adoption-store',
} satisfies RedisOptions;

/** A connection to one Redis, or to a Redis Cluster. It reconnects by itself. */
export class RedisConnection {
  /** Why it, or a node of the cluster, isn't connected. Undefined once connected. */
  error: Error | undefined;
  /** The connections that have ended so far, of all nodes. */
  ended = 0;
  private client: Scripted<Redis> | Scripted<Cluster>;
  /** Whether the kind of the client is final. A single address may be that of one Redis or of a cluster. */
  private isSettled: boolean;
  private isClosed = false;

  private constructor(
    private readonly urls: readonly string[],
    private readonly lua: string,
  ) {
    this.isSettled = urls.length > 1;
    this.client = this.isSettled ? this.newCluster() : this.newRedis();
  }

  /**
   * Connects. If that fails, it goes on in the background.
   *
   * @param urls one Redis, or some nodes of a Redis Cluster, which differ only in host and port.
   */
  static async open(urls: readonly string[], lua: string): Promise<RedisConnection> {
    const connection = new RedisConnection(urls, lua);
    await connection.connect();
    return connection;
  }

  /** Whether it is connected. If not, a call rejects immediately. */
  get isReady(): boolean {
    return this.isSettled && this.client.status === 'ready';
  }

  /** In a cluster a call can have only one key, because two keys may be on different nodes. */
  get isCluster(): boolean {
    return this.client instanceof Cluster;
  }

  async countRequests(keys: readonly string[], argument: string): Promise<string> {
    if (!this.isReady) throw this.error ?? new Error('not connected');
    return this.client.countRequests(keys.length, ...keys, argument);
  }

  /** One key for each primary, each beginning with `start`. */
  async keysOfPrimaries(start: string): Promise<readonly string[]> {
    if (!(this.client instanceof Cluster)) return [start];
    return keysInSlots(start, await this.client.cluster('SLOTS'));
  }

  /**
   * Replaces connections that don't answer within `timeout` milliseconds, and those to nodes that left their cluster.
   */
  async replaceSilent(timeout: number): Promise<void> {
    const { client, isReady } = this;
    if (!isReady) return;
    if (!(client instanceof Cluster)) {
      client.disconnect(true);
      return;
    }
    const nodes = client.nodes('master').filter(({ status }) => status === 'ready');
    const states = await Promise.allSettled(nodes.map((node) => answerWithin(timeout, node.cluster('INFO'))));
    nodes.forEach((node, index) => {
      const state = states[index];
      const isSound = state?.status === 'fulfilled' && state.value.includes('cluster_state:ok');
      // After a disconnect the client asks another node which node owns each slot.
      if (!isSound) node.disconnect();
    });
  }

  close(): void {
    this.isClosed = true;
    this.client.disconnect();
  }

  /** Resolves once it is connected, or the first attempt has failed. */
  private async connect(): Promise<void> {
    const { client } = this;
    await new Promise<void>((resolve) => {
      const fail = () => {
        // A client that was replaced has been closed on purpose, so its end isn't a failure.
        if (client === this.client) resolve();
      };
      client.once('error', fail).once('close', fail);
      client.on('ready', () => void this.settle(client).then(resolve));
      client.connect().catch(() => undefined);
    });
  }

  private async settle(client: Redis | Cluster): Promise<void> {
    this.error = undefined;
    // Opens the connection to each node now, so that the first requests needn't wait for it.
    if (client instanceof Cluster) await Promise.allSettled(client.nodes('master').map((node) => node.ping()));
    else await this.adapt(client);
  }

  /** Changes to a client for clusters if the single address is that of a cluster, as with managed services. */
  private async adapt(redis: Redis): Promise<void> {
    const [, mode] = /redis_mode:(\w+)/.exec(await redis.info('server').catch(() => '')) ?? [];
    if (this.client !== redis || this.isClosed) return;
    this.isSettled = true;
    if (mode !== 'cluster') return;
    this.client = this.newCluster();
    redis.disconnect();
    await this.connect();
  }

  private newRedis(): Scripted<Redis> {
    const redis = new Redis(this.urls[0] ?? '', {
      ...CONNECTION,
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy,
      scripts: { countRequests: { lua: this.lua } },
    });
    redis.on('error', (error: Error) => (this.error = error));
    redis.on('close', () => (this.ended += 1));
    return redis as Scripted<Redis>;
  }

  private newCluster(): Scripted<Cluster> {
    const { urls } = this;
    const cluster = new Cluster(urls.map(hostOf), {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryStrategy,
      // The client must not repeat a command: the request may be counted already, and this process decides it by now.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // Doesn't resolve host names here. So a TLS certificate can be checked against the name, and a name that doesn't
      // resolve makes only its own node fail.
      dnsLookup: (host, callback) => {
        callback(null, host);
      },
      redisOptions: { ...CONNECTION, ...credentialsOf(urls), ...(isTls(urls) && { tls: {} }) },
      scripts: { countRequests: { lua: this.lua } },
    });
    cluster.on('-node', () => (this.ended += 1));
    cluster.on('node error', (error: Error) => (this.error = error));
    // No node answered.
    cluster.on('error', (error: Error & { lastNodeError?: Error }) => (this.error = error.lastNodeError ?? error));
    return cluster as Scripted<Cluster>;
  }
}

function hostOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  // Without the brackets of an IPv6 address.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || REDIS_PORT) };
}

function credentialsOf([url = '']: readonly string[]): RedisOptions {
  const { username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

function isTls([url = '']: readonly string[]): boolean {
  return url.startsWith('rediss:');
}
