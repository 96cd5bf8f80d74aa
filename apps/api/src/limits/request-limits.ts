import type { Clock, MeterRequest, Source, Verdict } from '@adoption-store/domain';
import type { ApiMetrics } from '../http/api-metrics.js';

/** Decides about requests by the limits, and counts the decisions for the metrics. */
export class RequestLimits {
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
}
