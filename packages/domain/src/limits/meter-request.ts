import type { Caller } from '../accounts/authenticate.js';
import type { Verdict } from './quota.js';
import type { CountedRequest } from './request-counter.js';
import type { LimitOptions, LimitPorts } from './ports.js';

/** Requests without a valid key that one address may send in a minute. */
export const DEFAULT_ADDRESS_LIMIT = 60;

/** Requests for its limits that a key may send in a minute. */
export const ASKING_LIMIT = 60;

/** The sender of a request: an authenticated caller, or an address without a valid key. */
export type Source = Caller | { readonly address: string };

/** Counts a request against its account's plan or its address, and decides whether it is admitted. */
export class MeterRequest {
  constructor(
    private readonly ports: Pick<LimitPorts, 'requests' | 'clock'>,
    private readonly options: LimitOptions,
  ) {}

  /** A refusal is a verdict, not an exception. */
  execute(source: Source): Verdict | Promise<Verdict> {
    return this.ports.requests.count(this.requestOf(source));
  }

  /**
   * Counts a request for the key's limits. It has its own bucket, because it costs no quota and a banned key may send
   * it too.
   */
  async countAsking({ keyId }: Caller): Promise<Verdict> {
    const requester = { address: `rate_limit of key ${keyId}` };
    const limits = { perMinute: ASKING_LIMIT, perDay: Infinity };
    return this.ports.requests.count({ requester, limits, now: this.ports.clock.now() });
  }

  /** The verdict that a request would get now, without counting one. */
  async look(source: Source): Promise<Verdict> {
    return this.ports.requests.look(this.requestOf(source));
  }

  private requestOf(source: Source): CountedRequest {
    const now = this.ports.clock.now();
    if ('address' in source) {
      return { requester: source, limits: { perMinute: this.options.addressLimit, perDay: Infinity }, now };
    }
    return { requester: source, limits: source.plan, now };
  }
}
