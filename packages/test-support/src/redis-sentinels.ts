import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, temporaryFolder } from './processes.js';
import { askRedis, endOf, isRedisInstalled, launch, RedisServer, type RedisSettings, withTlsPort } from './redis.js';
import { until } from './until.js';

const SENTINELS = 3;
/** Milliseconds without an answer after which the Sentinels replace the primary. */
const DOWN_AFTER = 500;

/** The name that the Sentinels give the primary. */
export const SENTINEL_NAME = 'mymaster';

interface SentinelSettings {
  /** Settings of the two servers. */
  readonly redis?: RedisSettings;
  /** Settings of the Sentinels. */
  readonly sentinel?: RedisSettings;
}

/** Starts a primary with a replica and three Sentinels. Undefined, with a warning, if there is no redis-server. */
export function redisSentinelsFor(
  suite: string,
  settings: SentinelSettings = {},
): (() => Promise<RedisSentinels>) | undefined {
  return isRedisInstalled(suite) ? () => RedisSentinels.start(settings) : undefined;
}

/** A primary and its replica, watched by three Sentinels. */
export class RedisSentinels {
  private constructor(
    readonly primary: RedisServer,
    readonly replica: RedisServer,
    private readonly sentinels: readonly Sentinel[],
  ) {}

  static async start({ redis = {}, sentinel = {} }: SentinelSettings): Promise<RedisSentinels> {
    const [primary, replica] = await Promise.all([RedisServer.start(redis), RedisServer.start(redis)]);
    const password = redis['requirepass'];
    const monitored = primary.tlsPort ?? primary.port;
    await replica.ask(`REPLICAOF 127.0.0.1 ${monitored}`);
    await until(async () => (await replica.ask('INFO replication')).includes('master_link_status:up'));
    const lines = [
      `sentinel monitor ${SENTINEL_NAME} 127.0.0.1 ${monitored} 2`,
      `sentinel down-after-milliseconds ${SENTINEL_NAME} ${DOWN_AFTER}`,
      ...(password === undefined ? [] : [`sentinel auth-pass ${SENTINEL_NAME} ${password}`]),
    ];
    const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => startSentinel(lines, sentinel)));
    const started = new RedisSentinels(primary, replica, sentinels);
    const known = async ({ port }: Sentinel) => {
      const auth = sentinel['requirepass'] === undefined ? '' : `:${sentinel['requirepass']}@`;
      const info = await askRedis(`redis://${auth}127.0.0.1:${port}`, 'INFO sentinel');
      return info.includes(`slaves=1,sentinels=${SENTINELS}`);
    };
    await until(async () => (await Promise.all(sentinels.map(known))).every(Boolean));
    return started;
  }

  /** The Sentinels' addresses, as REDIS_URL has them. */
  get addresses(): string {
    return this.sentinels.map(({ port, tlsPort }) => `127.0.0.1:${tlsPort ?? port}`).join(',');
  }

  get urls(): readonly string[] {
    return this.sentinels.map(({ port }) => `redis://127.0.0.1:${port}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.sentinels.map(({ child }) => endOf(child)));
    await Promise.all([this.primary.close(), this.replica.close(), ...this.sentinels.map(({ remove }) => remove())]);
  }
}

interface Sentinel {
  readonly port: number;
  readonly tlsPort: string | undefined;
  readonly child: ChildProcess;
  readonly remove: () => Promise<void>;
}

async function startSentinel(lines: readonly string[], own: RedisSettings): Promise<Sentinel> {
  const [port, folder, settings] = await Promise.all([freePort(), temporaryFolder(), withTlsPort(own)]);
  const file = join(folder.path, 'sentinel.conf');
  const ownLines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder.path}`, ...ownLines, ...lines, ''].join('\n'));
  const child = await launch([file, '--sentinel'], '+monitor');
  return { port, tlsPort: settings['tls-port'], child, remove: () => folder.remove() };
}
