import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  askRedis,
  createDatabase,
  KEYS,
  type RedisServer,
  redisServerFor,
  run,
  type Running,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';
import { redisLossesIn } from '../support/redis-losses.js';

const PAGE = readFileSync(join(__dirname, '../../docker/redis.md'), 'utf8');
const [, ACL = ''] = /^(ACL SETUSER store .*)$/m.exec(PAGE) ?? [];
const openRedis = redisServerFor('the operator’s page on Redis');

(openRedis ? describe : describe.skip)('the operator’s page on Redis', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let service: Running | undefined;

  beforeEach(async () => {
    if (openRedis === undefined) throw new Error('skipped above');
    [database, redis] = await Promise.all([createDatabase(), openRedis()]);
  });

  afterEach(async () => {
    await service?.stop();
    await redis.close();
    await database.drop();
  });

  const ask = (command: string) => askRedis(redis.url, command);

  /** An API that counts as the page's user, and a key of one request a day. */
  async function start(acl: string) {
    await ask(acl.replace('PASSWORD', 's3cret'));
    const url = redis.url.replace('//', '//store:s3cret@');
    const settings = { DATABASE_URL: database.url, REDIS_URL: url, BAN_REFUSALS: '2', LOG_LEVEL: 'info' };
    const started = await startService(settings);
    service = started.service;
    const plan = ['--plan', 'enterprise', '--per-minute', '1000', '--per-day', '1'];
    const { stdout } = await run(KEYS, ['create', '--email', 'dev@example.com', ...plan], settings);
    const statusOf = async (key?: string) => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(`${started.origin}/v1/pets`, { headers });
      return `${response.status} ${((await response.json()) as { code?: string }).code ?? ''}`.trim();
    };
    return { statusOf, key: stdout.trim(), log: () => started.service.stdout };
  }

  it('gives the user every right that counting needs, and the commands that end a ban or give the quota again', async () => {
    const { statusOf, key, log } = await start(ACL);
    expect(await statusOf()).toBe('401 missing_api_key');
    expect(await statusOf(key)).toBe('200');
    expect(await statusOf(key)).toBe('429 daily_quota_exceeded');
    expect(await statusOf(key)).toBe('429 key_banned');
    const [, counts] = /^(\d+ \d+ \d+ \d+) key:1 /.exec(await ask('GET quota:account:1')) ?? [];
    expect(await ask(`SET quota:account:1 "${counts}" KEEPTTL`)).toBe('OK');
    expect(await statusOf(key)).toBe('429 daily_quota_exceeded');
    expect(await statusOf(key)).toBe('429 key_banned');
    expect(await ask('DEL quota:account:1')).toBe('1');
    expect(await statusOf(key)).toBe('200');
    expect(redisLossesIn(log())).toEqual([]);
  });

  it.each([
    ['the keys', ' ~quota:* ', ' ~other:* ', 'NOPERM'],
    ['a command', ' +get ', ' ', "can't run this command"],
  ])(
    'says rightly that without %s Redis counts nothing, for which the log has the reason',
    async (_, right, less, why) => {
      const { log } = await start(ACL.replace(right, less));
      await until(() => new RegExp(`"dependency":"redis","reason":"[^"]*${why}`).test(log()));
    },
  );
});
