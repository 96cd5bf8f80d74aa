import type { Clock, MeterRequest, Source, Verdict } from '@adoption-store/domain';
import { normalizeIp } from '@nestjs/throttler';
import type { AddressLimits, Judgement } from '../http/address-limits.js';
import type { ApiMetrics } from '../http/metrics.js';
import { limitHeaders, refusalOf } from './limit-headers.js';

/** Decides about requests by the limits, and counts the decisions for the metrics. */
export class RequestLimits implements AddressLimits {
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

  async countAddress(ip: string): Promise<Judgement> {
    return this.judged(await this.count(sourceOf(ip)));
  }

  async lookAtAddress(ip: string): Promise<Judgement> {
    return this.judged(await this.meter.look(sourceOf(ip)));
  }

  private judged(verdict: Verdict): Judgement {
    const now = this.clock.now();
    return { headers: limitHeaders(verdict, now), refusal: refusalOf(verdict, now) };
  }
}

/** An IPv6 client has a whole /64, which counts as one address. */
function sourceOf(ip: string): Source {
  return { address: normalizeIp(ip) };
}
