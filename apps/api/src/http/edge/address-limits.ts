import type { Clock, MeterRequest } from '@adoption-store/domain';
import { normalizeIp } from '@nestjs/throttler';
import { type Judgement, judgementOf } from '../answers/limit-headers.js';
import type { ApiMetrics } from './metrics.js';

/** Decides about requests without a valid key, by the limits of their address. */
export class AddressLimits {
  constructor(
    private readonly meter: MeterRequest,
    private readonly clock: Clock,
    private readonly metrics?: ApiMetrics,
  ) {}

  /** Counts the request, if its address isn't over its limit. */
  async count(ip: string): Promise<Judgement> {
    const verdict = await this.meter.execute(sourceOf(ip));
    this.metrics?.countDecision(undefined, verdict);
    return judgementOf(verdict, this.clock.now());
  }

  /** What `count` would decide, without counting a request. */
  async look(ip: string): Promise<Judgement> {
    return judgementOf(await this.meter.look(sourceOf(ip)), this.clock.now());
  }
}

/** An IPv6 client usually has a whole /64 network, so this counts as one address. */
function sourceOf(ip: string): { readonly address: string } {
  return { address: normalizeIp(ip) };
}
