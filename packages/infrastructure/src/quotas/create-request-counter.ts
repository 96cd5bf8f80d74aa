import type { BanPolicy, RequestCounter } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { FallbackRequestCounter } from './fallback-request-counter.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';
import { PostgresCountsStore } from './postgres-counts-store.js';

export interface RequestCounterConfig {
  /** A Redis that all instances share; without it each counts by itself. */
  readonly redisUrl?: string | undefined;
  /** Milliseconds that a request waits for Redis, 40 if not said. */
  readonly redisTimeout?: number | undefined;
  /** Where days and bans outlive the process. */
  readonly dataSource: DataSource;
  readonly policy: BanPolicy;
  /** Told what the operator should know, a sentence each. */
  readonly onEvent: (message: string) => void;
  /** Called with the failure each time Redis fails, and with undefined each time it answers. */
  readonly onRedisState: (failure: unknown) => void;
}

export type CreatedRequestCounter = Awaited<ReturnType<typeof createRequestCounter>>;

/** A Redis that is away is no failure: its loss is reported, and its return awaited. */
export async function createRequestCounter(config: RequestCounterConfig) {
  const { redisUrl, redisTimeout, dataSource, policy, onEvent, onRedisState } = config;
  // With Redis too: a process that is restarted while Redis is away goes on as well.
  const store = new PostgresCountsStore(dataSource, onEvent);
  const local = new InProcessRequestCounter(policy, store);
  let fallback: FallbackRequestCounter | undefined;
  if (redisUrl !== undefined) {
    // Loaded by whoever uses it alone: it takes a tenth of a second.
    const { RedisRequestCounter } = await import('./redis-request-counter.js');
    const shared = await RedisRequestCounter.connect(redisUrl, policy, redisTimeout);
    fallback = new FallbackRequestCounter(shared, local, onRedisState);
  }
  const counter: RequestCounter = fallback ?? local;
  return {
    counter,
    /** Requests that were decided in this process because Redis was lost. */
    fallbacks: () => fallback?.fallbacks ?? 0,
    /** Keeps what isn't kept yet; before the data source is destroyed. */
    close: async () => {
      fallback?.close();
      await store.close();
    },
  };
}
