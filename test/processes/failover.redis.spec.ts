import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  API,
  createDatabase,
  KEYS,
  type RedisCluster,
  redisClusterFor,
  type RedisSentinels,
  redisSentinelsFor,
  type RedisServer,
  run,
  Running,
  SENTINEL_NAME,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeCertificate, OPENSSL } from '../support/certificate.js';
import { decidedAlone } from '../support/decided-alone.js';

const PAGE = readFileSync(join(__dirname, '../../docker/redis-failover.md'), 'utf8');
const [, ACL = ''] = /^(ACL SETUSER store .*)$/m.exec(PAGE) ?? [];
const SUITE = 'APIs whose Redis fails over';
const isPossible = OPENSSL !== undefined && redisClusterFor(SUITE) !== undefined;

/** Requests a day of each account, and those that each API is sent. */
const LIMIT = 10;
const SENT = 12;
const ATTEMPTS = 5;

interface Api {
  readonly process: Running;
  readonly origin: string;
  readonly metrics: string;
}

(isPossible ? describe : describe.skip)('two APIs on Redis with TLS and passwords, whose primary is killed,', () => {
  let database: TestDatabase;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let cluster: RedisCluster | undefined;
  let sentinels: RedisSentinels | undefined;
  const started: Running[] = [];

  beforeAll(async () => {
    [folder, database] = await Promise.all([temporaryFolder(), createDatabase()]);
    const [pem, ca] = [join(folder.path, 'pem'), join(folder.path, 'ca')];
    const made = makeCertificate(folder.path);
    writeFileSync(pem, made.pem);
    writeFileSync(ca, made.certificate);
    const tls = {
      ...{ 'tls-cert-file': pem, 'tls-key-file': pem, 'tls-ca-cert-file': ca },
      ...{ 'tls-auth-clients': 'no', 'tls-replication': 'yes' },
    };
    const redis = { ...tls, requirepass: 'admin', masterauth: 'admin' };
    [cluster, sentinels] = await Promise.all([
      redisClusterFor(SUITE, 1, { ...redis, 'tls-cluster': 'yes' })?.(),
      redisSentinelsFor(SUITE, { redis, sentinel: { ...tls, requirepass: 'watch' } })?.(),
    ]);
  });

  afterAll(async () => {
    await Promise.all(started.map((process) => process.stop()));
    await Promise.all([cluster?.close(), sentinels?.close()]);
    await database.drop();
    await folder.remove();
  });

  async function startApi(settings: Readonly<Record<string, string>>): Promise<Api> {
    const process = new Running(API, [], {
      ...{ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', ACCESS_LOG: 'off' },
      ...{ NODE_EXTRA_CA_CERTS: join(folder.path, 'ca'), ...settings },
    });
    started.push(process);
    const origin = (await process.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
    return { process, origin, metrics: (await process.prints(/Metrics {2}(\S+)/))[1] ?? '' };
  }

  async function newKey(email: string): Promise<string> {
    const plan = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', String(LIMIT)];
    return (await run(KEYS, ['create', '--email', email, ...plan], { DATABASE_URL: database.url })).stdout.trim();
  }

  async function expectFailover(settings: Readonly<Record<string, string>>, primary: RedisServer): Promise<void> {
    const name = settings['REDIS_SENTINEL_NAME'] ?? 'cluster';
    const anotherKey = () => newKey(`${randomUUID()}@example.com`);
    const [apis, [before, during]] = await Promise.all([
      Promise.all([startApi(settings), startApi(settings)]),
      Promise.all([anotherKey(), anotherKey()]),
    ]);
    /** The admitted requests of several to both APIs at once. */
    const admittedOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const send = async ({ origin }: Api) => (await fetch(`${origin}/v1/pets`, { headers })).status;
      const statuses = await Promise.all(apis.flatMap((api) => Array.from({ length: SENT }, () => send(api))));
      return statuses.filter((status) => status === 200).length;
    };
    const alone = async () => (await Promise.all(apis.map((api) => decidedAlone(api.metrics)))).reduce((a, b) => a + b);
    /** A busy machine may answer later than an API waits for its Redis. So one attempt without that is enough. */
    const expectExactly = async (key: string, attempt = 1): Promise<void> => {
      const earlier = await alone();
      const admitted = await admittedOf(key);
      const late = (await alone()) - earlier;
      expect(admitted).toBeLessThanOrEqual(LIMIT + late);
      if (late > 0 && attempt < ATTEMPTS) return expectExactly(await anotherKey(), attempt + 1);
      expect([admitted, late]).toEqual([LIMIT, 0]);
    };
    const areShared = async (value: 0 | 1) => {
      const pages = await Promise.all(apis.map(async ({ metrics }) => (await fetch(metrics)).text()));
      return pages.every((page) => page.includes(`\ndependency_up{dependency="redis"} ${value}\n`));
    };
    expect(await areShared(1)).toBe(true);
    await expectExactly(before);
    await primary.kill();
    const killedAt = performance.now();
    await until(() => areShared(0));
    const noticed = Math.round(performance.now() - killedAt);
    const earlier = await alone();
    // Each API admits the limit.
    expect([await admittedOf(during), (await alone()) - earlier]).toEqual([2 * LIMIT, 2 * SENT]);
    await until(() => areShared(1));
    const back = Math.round(performance.now() - killedAt);
    await expectExactly(during);
    console.info(`${name}: noticed after ${noticed} ms, shared again after ${back} ms`);
  }

  it('share a limit exactly in a cluster, count alone while it is broken, and say so', async () => {
    if (cluster === undefined) throw new Error('skipped above');
    const { primaries, replicas, addresses } = cluster;
    const acl = ACL.replace('PASSWORD', 's3cret');
    for (const node of [...primaries, ...replicas]) await node.ask(acl);
    await expectFailover({ REDIS_URL: `rediss://store:s3cret@${addresses}` }, primaries[0]);
  });

  it('share a limit exactly with Sentinels, count alone until they have a new primary, and say so', async () => {
    if (sentinels === undefined) throw new Error('skipped above');
    const { primary, addresses } = sentinels;
    const settings = { REDIS_SENTINEL_NAME: SENTINEL_NAME, REDIS_SENTINEL_PASSWORD: 'watch' };
    await expectFailover({ ...settings, REDIS_URL: `rediss://:admin@${addresses}` }, primary);
  });
});
