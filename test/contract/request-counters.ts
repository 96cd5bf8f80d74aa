import { randomBytes } from 'node:crypto';
import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  HOUR,
  instant,
  type KeyRequester,
  later,
  limitsOf,
  type RequestCounter,
} from '@adoption-store/domain';
import { InMemoryRequestCounter } from '@adoption-store/domain/testing';
import {
  migrate,
  openDataSource,
  createRequestCounter,
  RedisRequestCounter,
} from '@adoption-store/infrastructure/testing';
import { createDatabase, redisFor } from '@adoption-store/test-support';

export const DAY = 24 * HOUR;
export const midnight = instant(Date.UTC(2026, 0, 1));
export const noon = later(midnight, 12 * HOUR);
export const free = limitsOf({ name: 'free' });
/** Long enough for a loaded machine: only the last of these suites tests how fast Redis is. */
export const TIMEOUT = 20_000;

export interface Opened {
  readonly counter: RequestCounter;
  readonly close: () => Promise<void>;
}

const newId = () => randomBytes(7).readUIntBE(1, 6);
export const newAccount = () => BigInt(newId()) as AccountId;
export const newKey = () => BigInt(newId()) as ApiKeyId;

export const newRequester = (): KeyRequester => ({ accountId: newAccount(), keyId: newKey() });

export async function openDatabase() {
  const database = await createDatabase();
  await migrate({ connectionString: database.url });
  const dataSource = await openDataSource({ connectionString: database.url, max: 5 });
  return {
    url: database.url,
    dataSource,
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}
export type Database = Awaited<ReturnType<typeof openDatabase>>;

export async function openOnDatabase(policy: BanPolicy, redisUrl?: string): Promise<Opened> {
  const { dataSource, close } = await openDatabase();
  const onEvent = (message: string) => {
    throw new Error(message);
  };
  const onRedisState = (failure: unknown) => {
    if (failure !== undefined) throw new Error('Redis is lost', { cause: failure });
  };
  const settings = { redisUrl, redisTimeout: TIMEOUT, dataSource, policy, onEvent, onRedisState };
  const opened = await createRequestCounter(settings);
  return {
    counter: opened.counter,
    close: async () => {
      await opened.close();
      await close();
    },
  };
}

const openRedis = redisFor('request counters on Redis');
export type Adapter = readonly [name: string, open: (policy: BanPolicy) => Promise<Opened>];
export const everyAdapter: readonly Adapter[] = [
  ['in memory', async (policy) => ({ counter: new InMemoryRequestCounter(policy), close: () => Promise.resolve() })],
  ['in this process, kept in PostgreSQL', (policy) => openOnDatabase(policy)],
  ...(openRedis === undefined
    ? []
    : ([
        [
          'Redis',
          async (policy) => {
            const redis = await openRedis();
            const counter = await RedisRequestCounter.connect(redis.url, policy, TIMEOUT);
            return {
              counter,
              close: async () => {
                counter.close();
                await redis.close();
              },
            };
          },
        ],
        [
          'Redis, with a fallback',
          async (policy) => {
            const redis = await openRedis();
            const { counter, close } = await openOnDatabase(policy, redis.url);
            return { counter, close: () => close().then(() => redis.close()) };
          },
        ],
      ] satisfies Adapter[])),
];

/** Lets work in progress continue. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
