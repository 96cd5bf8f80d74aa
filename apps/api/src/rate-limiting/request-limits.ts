import { type Clock, type MeterRequest, retryAfter, SECOND, type Source, type Verdict } from '@adoption-store/domain';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { ApiMetrics } from '../observability/api-metrics.js';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage. It counts nothing itself; the domain decides. */
export class RequestCounterStorage implements ThrottlerStorage {
  constructor(
    private readonly meter: MeterRequest,
    readonly clock: Clock,
    private readonly metrics?: ApiMetrics,
  ) {}

  /** Counts the request if both windows have room. */
  async count(source: Source): Promise<Verdict> {
    const verdict = await this.meter.execute(source);
    this.metrics?.countDecision(source, verdict);
    return verdict;
  }

  /** The verdict that a request would get now, without counting one. */
  async look(source: Source): Promise<Verdict> {
    return this.meter.look(source);
  }

  /** For the throttler's own guard: its tracker is counted like an address, by the minute. Times are in seconds. */
  async increment(tracker: string): Promise<ThrottlerRecord> {
    const verdict = await this.count({ address: tracker });
    const now = this.clock.now();
    const isBlocked = verdict.outcome !== 'admitted';
    return {
      totalHits: verdict.minute.used,
      timeToExpire: Math.ceil((verdict.minute.resetsAt - now) / SECOND),
      isBlocked,
      timeToBlockExpire: isBlocked ? retryAfter(verdict, now) : 0,
    };
  }
}
