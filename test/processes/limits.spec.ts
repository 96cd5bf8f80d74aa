import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Instant, instant, later, SECOND } from '@adoption-store/domain';
import {
  ask,
  askRedis,
  createDatabase,
  type Environment,
  ProcessClock,
  redisClusterFor,
  redisServerFor,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { makeCertificate, OPENSSL } from '../support/certificate.js';
import { type Api, issueKey, limitsOf, startApi as start } from '../support/services.js';

const NOON: Instant = instant(Date.UTC(2030, 0, 1, 12));
const SUITE = 'limits of several processes';
const openRedis = redisServerFor(SUITE);
const openCluster = redisClusterFor(SUITE);

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
  closing = [];
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  await Promise.all([database.drop(), folder.remove()]);
});

async function startApi(environment: Environment = {}): Promise<Api> {
  const api = await start({ DATABASE_URL: database.url, LOG_LEVEL: 'info', ACCESS_LOG: 'off', ...environment });
  closing.push(() => api.service.stop());
  return api;
}

const createKey = (email: string, plan: readonly string[]) => issueKey({ DATABASE_URL: database.url }, email, plan);

async function opened<Server extends { close(): Promise<unknown> }>(open?: () => Promise<Server>): Promise<Server> {
  if (open === undefined) throw new Error('skipped below');
  const server = await open();
  closing.push(() => server.close());
  return server;
}

/** The codes of the responses in order, or `ok`; for a banned key with the seconds to wait. */
async function answers(origin: string, key: string | undefined, count = 1): Promise<string[]> {
  const all = [];
  for (let sent = 0; sent < count; sent += 1) {
    const response = await fetch(`${origin}/v1/pets`, { headers: key ? { authorization: `Bearer ${key}` } : {} });
    const { code = 'ok' } = (await response.json()) as { code?: string };
    all.push(code === 'key_banned' ? `${code} for ${response.headers.get('retry-after') ?? ''}` : code);
  }
  return all;
}

(OPENSSL && openCluster ? describe : describe.skip)('two replicas on a Redis Cluster with TLS', () => {
  /** The rights of the service's user. */
  const ACL =
    'ACL SETUSER store on >s3cret resetchannels ~quota:* +@connection -@dangerous +info +time +hmget +hset +hdel +hrandfield +pexpire +eval +evalsha ' +
    '+cluster|slots +cluster|info';

  it('share a limit, as a user of their own', async () => {
    const [pem, ca] = [join(folder.path, 'pem'), join(folder.path, 'ca')];
    const made = makeCertificate(folder.path);
    writeFileSync(pem, made.pem);
    writeFileSync(ca, made.certificate);
    const tls = { 'tls-cert-file': pem, 'tls-key-file': pem, 'tls-ca-cert-file': ca, 'tls-auth-clients': 'no' };
    const passwords = { requirepass: 'admin', masterauth: 'admin' };
    const cluster = await opened(redisClusterFor(SUITE, 0, { ...tls, ...passwords, 'tls-cluster': 'yes' }));
    for (const node of cluster.primaries) await node.ask(ACL);
    const settings = { NODE_EXTRA_CA_CERTS: ca, REDIS_URL: `rediss://store:s3cret@${cluster.addresses}` };
    const [one, other] = await Promise.all([startApi(settings), startApi(settings)]);
    let keys = 0;
    // On a busy machine a replica may decide without Redis, so another key is tried.
    await until(async () => {
      const key = await createKey(`${(keys += 1)}@example.com`, limitsOf(1_000, 10));
      const all = [...(await answers(one.origin, key, 6)), ...(await answers(other.origin, key, 6))];
      return all.filter((code) => code === 'ok').length === 10;
    });
  });
});

it('the day’s counts and bans, written every half second, survive the SIGKILL of the API', async () => {
  const settings = { BAN_REFUSALS: '3' };
  const first = await startApi(settings);
  const key = await createKey('dev@example.com', limitsOf(1_000, 10));
  const daily = 'daily_quota_exceeded';
  const banned = expect.stringMatching(/^key_banned/) as unknown;
  expect(await answers(first.origin, key, 13)).toEqual([...Array<string>(10).fill('ok'), daily, daily, banned]);
  await until(async () => {
    const text = `SELECT max(day_used)::int AS used, (SELECT count(*)::int FROM key_bans) AS bans FROM request_counts`;
    const [row] = await ask<{ used: number | null; bans: number }>(database.url, text);
    return row?.used === 10 && row.bans === 1;
  });
  await first.service.stop('SIGKILL');
  const second = await startApi(settings);
  const look = await fetch(`${second.origin}/v1/rate_limit`, { headers: { authorization: `Bearer ${key}` } });
  const day = { limit: 10, used: 10, remaining: 0 };
  expect(await look.json()).toMatchObject({ day, ban: { until: expect.any(Number) } });
  expect(await answers(second.origin, key)).toEqual([banned]);
});

it('BAN_REFUSALS, BAN_SECONDS and BAN_SECONDS_MAX set when the API bans a key, and for how long', async () => {
  const clock = new ProcessClock(folder.path, NOON);
  const key = await createKey('dev@example.com', limitsOf(1, 1));
  const bans = { BAN_REFUSALS: '4', BAN_SECONDS: '70', BAN_SECONDS_MAX: '100' };
  const { origin } = await startApi({ ...bans, ...clock.environment });
  const refused = Array<string>(3).fill('daily_quota_exceeded');
  expect(await answers(origin, key, 5)).toEqual(['ok', ...refused, 'key_banned for 70']);
  clock.set(later(NOON, 70 * SECOND));
  // Doubled, it would be 140.
  expect(await answers(origin, key, 4)).toEqual([...refused, 'key_banned for 100']);
});

(openRedis ? describe : describe.skip)('the operator’s page on Redis', () => {
  const page = readFileSync(join(__dirname, '../../docker/redis.md'), 'utf8');
  const [, ACL = ''] = /^(ACL SETUSER store .*)$/m.exec(page) ?? [];

  /** An API that uses Redis as the page's user. */
  async function startWith(acl: string) {
    const redis = await opened(openRedis);
    await askRedis(redis.url, acl.replace('PASSWORD', 's3cret'));
    const REDIS_URL = redis.url.replace('//', '//store:s3cret@');
    const { origin, service } = await startApi({ REDIS_URL, BAN_REFUSALS: '2' });
    return { origin, service, command: (text: string) => askRedis(redis.url, text) };
  }

  it('gives the user every right that counting needs, and the commands that end a ban or give the quota again', async () => {
    const { origin, service, command } = await startWith(ACL);
    const key = await createKey('dev@example.com', limitsOf(1_000, 1));
    const banned = expect.stringMatching(/^key_banned/) as unknown;
    expect(await answers(origin, undefined)).toEqual(['missing_api_key']);
    expect(await answers(origin, key, 3)).toEqual(['ok', 'daily_quota_exceeded', banned]);
    expect(await command('HDEL quota:account:1 1')).toBe('1');
    expect(await answers(origin, key, 2)).toEqual(['daily_quota_exceeded', banned]);
    expect(await command('DEL quota:account:1')).toBe('1');
    expect(await answers(origin, key)).toEqual(['ok']);
    // A busy CPU is enough for late answers.
    const losses = [...service.stdout.matchAll(/"reason":"([^"]*)","msg":"Redis is lost"/g)].map(
      ([, reason]) => reason,
    );
    expect(losses.filter((reason) => reason !== 'no answer within 40 ms')).toEqual([]);
  });

  it('says rightly that without the right to the keys Redis counts nothing: the log has the reason, and no password', async () => {
    const { service } = await startWith(ACL.replace(' ~quota:* ', ' ~other:* '));
    await until(() => /"dependency":"redis","reason":"[^"]*NOPERM/.test(service.stdout));
    expect(service.stdout + service.stderr).not.toContain('s3cret');
  });
});
