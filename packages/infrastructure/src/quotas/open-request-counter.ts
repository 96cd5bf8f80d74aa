import { type BanPolicy, type Clock, type Instant, NO_REFUSALS, type RequestCounter } from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import { FallbackRequestCounter } from './fallback-request-counter.js';
import { FollowingRequestCounter } from './following-request-counter.js';
import { InProcessRequestCounter } from './in-process-request-counter.js';
import { purgeLastingCounts } from './purge-lasting-counts.js';
import { QuotaPersistence } from './quota-persistence.js';

export interface RequestCounterConfig {
  /** A Redis that all instances share; without it each counts by itself. */
  readonly redisUrl?: string | undefined;
  /** Milliseconds that a request waits for Redis, 40 if not said. */
  readonly redisTimeout?: number | undefined;
  /** Where days and bans outlive the process. */
  readonly dataSource: DataSource;
  readonly policy: BanPolicy;
  /** Whether this process only tells how accounts stand that others count: then it keeps nothing of its own. */
  readonly isFollowing?: boolean | undefined;
  readonly clock: Clock;
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
  const { redisUrl, redisTimeout, policy } = config;
  const { local, close } = await openLocalCounter(config);
  if (redisUrl === undefined) return { counter: local, fallbacks: () => 0, isShared: () => false, close };
  // Loaded by whoever uses it alone: it takes a tenth of a second.
  const { RedisRequestCounter } = await import('./redis-request-counter.js');
  const shared = await RedisRequestCounter.connect(redisUrl, policy, redisTimeout, (requester, usage, now) => {
    local.remember(requester, { usage, refusals: NO_REFUSALS }, now);
  });
  const counter = new FallbackRequestCounter(shared, local, config.onEvent);
  return {
    counter,
    fallbacks: () => counter.fallbacks,
    isShared: () => counter.isShared,
    async close() {
      counter.close();
      await shared.close();
      await close();
    },
  };
}

/** What counts without Redis. */
async function openLocalCounter({ dataSource, policy, isFollowing, clock, onEvent }: RequestCounterConfig) {
  const purge = (now: Instant) => purgeLastingCounts(dataSource, now);
  if (isFollowing === true) {
    return { local: new FollowingRequestCounter(dataSource, policy, purge), close: () => Promise.resolve() };
  }
  const local = new InProcessRequestCounter(policy, purge);
  // With Redis too, as a process that is restarted while Redis is away goes on as well.
  const persistence = new QuotaPersistence(dataSource, local, onEvent);
  await persistence.open(clock);
  return { local, close: () => persistence.close() };
}
