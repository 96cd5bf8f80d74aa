import { randomBytes, randomUUID } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  HOUR,
  instant,
  type KeyRequester,
  later,
  limitsOf,
} from '@adoption-store/domain';
import type { Opened, OpenRequestCounter } from '@adoption-store/domain/testing';
import { redisFor, type TestRedis } from '@adoption-store/test-support';
import { TypeOrmAccountRepository } from '../src/accounts/typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from '../src/accounts/typeorm-api-key-repository.js';
import { createRequestCounter } from '../src/quotas/create-request-counter.js';
import type { RedisAddress } from '../src/quotas/redis-connection.js';
import { RedisRequestCounter } from '../src/quotas/redis-request-counter.js';
import { type Database, openDatabase } from './databases.js';

export const midnight = instant(Date.UTC(2026, 0, 1));
export const noon = later(midnight, 12 * HOUR);
export const free = limitsOf({ name: 'free' });
/** Long enough for a loaded machine: only the last of these suites tests how fast Redis is. */
export const TIMEOUT = 20_000;
/** The tests set the time, which Redis' own clock doesn't know. */
export const ANY_CLOCK = Number.MAX_SAFE_INTEGER;

const newId = () => randomBytes(7).readUIntBE(1, 6);
const newAccount = () => BigInt(newId()) as AccountId;
export const newKey = () => BigInt(newId()) as ApiKeyId;

export const newRequester = (): KeyRequester => ({ accountId: newAccount(), keyId: newKey() });

async function openOnDatabase(policy: BanPolicy, redis?: RedisAddress): Promise<Opened<'requests'>> {
  const { dataSource, close } = await openDatabase();
  const onEvent = (message: string) => {
    throw new Error(message);
  };
  const onRedisState = (failure: unknown) => {
    if (failure !== undefined) throw new Error('Redis is lost', { cause: failure });
  };
  const settings = {
    redis,
    redisTimeout: TIMEOUT,
    redisTolerance: ANY_CLOCK,
    dataSource,
    policy,
    onEvent,
    onRedisState,
  };
  const opened = await createRequestCounter(settings);
  return {
    ports: { requests: opened.counter },
    close: async () => {
      await opened.close();
      await close();
    },
  };
}

const openRedis = redisFor('request counters on Redis');
type Counter = readonly [name: string, open: OpenRequestCounter];
const onRedis = (open: () => Promise<TestRedis>): readonly Counter[] => [
  [
    'Redis',
    async (policy) => {
      const redis = await open();
      const requests = await RedisRequestCounter.connect({ urls: [redis.url] }, policy, TIMEOUT, ANY_CLOCK);
      return {
        ports: { requests },
        close: async () => {
          requests.close();
          await redis.close();
        },
      };
    },
  ],
  [
    'Redis, with a fallback',
    async (policy) => {
      const redis = await open();
      const opened = await openOnDatabase(policy, { urls: [redis.url] });
      return { ports: opened.ports, close: () => opened.close().then(() => redis.close()) };
    },
  ],
];

export const everyCounter: readonly Counter[] = [
  ['in this process, kept in PostgreSQL', (policy) => openOnDatabase(policy)],
  ...(openRedis === undefined ? [] : onRedis(openRedis)),
];

/** Counts are stored only for an existing account and key. */
export async function storedRequester({ dataSource }: Database): Promise<KeyRequester> {
  const account = await new TypeOrmAccountRepository(dataSource).open({
    email: `${randomUUID()}@example.com`,
    plan: { name: 'free' },
    scopes: undefined,
    createdAt: noon,
  });
  const key = await new TypeOrmApiKeyRepository(dataSource).add({
    accountId: account.id,
    hash: randomBytes(32).toString('hex'),
    ending: 'wxyz',
    name: undefined,
    createdAt: noon,
    scopes: undefined,
    expiresAt: undefined,
  });
  return { accountId: account.id, keyId: key.id };
}

/** Lets work in progress continue. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
