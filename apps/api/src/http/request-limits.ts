import type { Clock, MeterRequest, Source, Verdict } from '@adoption-store/domain';
import { normalizeIp } from '@nestjs/throttler';
import { type Judgement, judgementOf } from './limit-headers.js';
import type { ApiMetrics } from './metrics.js';

/** Applies the limits to requests, and counts the decisions for the metrics. */
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

  /** Counts a request without a valid key against its address. */
  async countAddress(ip: string): Promise<Judgement> {
    return judgementOf(await this.count(sourceOf(ip)), this.clock.now());
  }

  /** What `countAddress` would decide, without counting a request. */
  async lookAtAddress(ip: string): Promise<Judgement> {
    return judgementOf(await this.meter.look(sourceOf(ip)), this.clock.now());
  }
}

/** An IPv6 client has a whole /64, which counts as one address. */
function sourceOf(ip: string): Source {
  return { address: normalizeIp(ip) };
}
