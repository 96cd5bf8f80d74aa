import type { BanPolicy, RequestCounter } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { FallbackRequestCounter } from './fallback-request-counter.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';
import { PostgresCountsStore } from './postgres-counts-store.js';

export interface RequestCounterConfig {
  /** A Redis that all instances share. Without it each instance counts by itself. */
  readonly redis?: readonly string[] | undefined;
  /** Milliseconds for which a request waits for Redis. Default: 40. */
  readonly redisTimeout?: number | undefined;
  /** Milliseconds by which this process's clock may differ from Redis'. Beyond, Redis' is used. Default: a minute. */
  readonly redisTolerance?: number | undefined;
  /** The store of counts and bans that survive the process. */
  readonly dataSource: DataSource;
  readonly policy: BanPolicy;
  /** Called with sentences for the operator. */
  readonly onEvent: (message: string) => void;
  /** Called with the failure each time Redis fails, and with undefined each time it answers. */
  readonly onRedisState: (failure: unknown) => void;
}

/** Creates the counter. If Redis is unreachable, this is reported, and the counter uses Redis once it answers. */
export async function createRequestCounter(config: RequestCounterConfig) {
  const { redis, redisTimeout, redisTolerance, dataSource, policy, onEvent, onRedisState } = config;
  // Also needed with Redis: a process that starts while Redis is down continues from the stored counts.
  const store = new PostgresCountsStore(dataSource, onEvent);
  const local = new InProcessRequestCounter(policy, store);
  let fallback: FallbackRequestCounter | undefined;
  if (redis !== undefined) {
    // Loaded on demand, because loading it takes a tenth of a second.
    const { RedisRequestCounter } = await import('./redis-request-counter.js');
    const shared = await RedisRequestCounter.connect(redis, policy, redisTimeout, redisTolerance);
    fallback = new FallbackRequestCounter(shared, local, onRedisState);
  }
  const counter: RequestCounter = fallback ?? local;
  return {
    counter,
    /** Requests that this process decided because Redis was lost. */
    fallbacks: () => fallback?.fallbacks ?? 0,
    /** Stores the remaining counts. Call it before the data source is destroyed. */
    close: async () => {
      fallback?.close();
      await store.close();
    },
  };
}
