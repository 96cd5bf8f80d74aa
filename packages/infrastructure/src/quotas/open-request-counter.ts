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
}

export interface OpenRequestCounter {
  readonly counter: RequestCounter;
  /** Requests that were decided in this process because Redis was lost; always 0 without Redis. */
  readonly fallbacks: () => number;
  /** Whether requests are counted in Redis just now, with those of all instances. */
  readonly isShared: () => boolean;
  /** Keeps what isn't kept yet; before the data source is destroyed. */
  readonly close: () => Promise<void>;
}

/** A Redis that is away is no failure: its absence is told and its return awaited. */
export async function openRequestCounter(config: RequestCounterConfig): Promise<OpenRequestCounter> {
  const { redisUrl, redisTimeout, dataSource, policy, onEvent } = config;
  // With Redis too: a process that is restarted while Redis is away goes on as well.
  const store = new PostgresCountsStore(dataSource, onEvent);
  const local = new InProcessRequestCounter(policy, store);
  const close = () => store.close();
  if (redisUrl === undefined) return { counter: local, fallbacks: () => 0, isShared: () => false, close };
  // Loaded by whoever uses it alone: it takes a tenth of a second.
  const { RedisRequestCounter } = await import('./redis-request-counter.js');
  const shared = await RedisRequestCounter.connect(redisUrl, policy, redisTimeout);
  const counter = new FallbackRequestCounter(shared, local, onEvent);
  return {
    counter,
    fallbacks: () => counter.fallbacks,
    isShared: () => counter.isShared,
    close: () => {
      counter.close();
      return close();
    },
  };
}
