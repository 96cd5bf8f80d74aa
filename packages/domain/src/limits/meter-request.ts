import type { Caller } from '../accounts/caller.js';
import type { Clock } from '../kernel/clock.js';
import type { Verdict } from './quota.js';
import type { CountedRequest, RequestCounter } from './request-counter.js';

/** Requests without a valid key that one address may send in a minute. */
export const DEFAULT_ADDRESS_LIMIT = 60;

/** Requests for its limits that a key may send in a minute. */
export const ASKING_LIMIT = 60;

/** The sender of a request: an authenticated caller, or an address without a valid key. */
export type Source = Caller | { readonly address: string };

/** Counts a request against its account's plan or its address, and decides whether it is admitted. */
export class MeterRequest {
  constructor(
    private readonly counter: RequestCounter,
    private readonly clock: Clock,
    private readonly addressLimit: number,
  ) {}

  /** A refusal is a verdict, not an exception. */
  async execute(source: Source): Promise<Verdict> {
    return this.counter.count(this.requestOf(source));
  }

  /**
   * Counts a request for the key's limits. It has its own bucket, because it costs no quota and a banned key may send
   * it too.
   */
  async countAsking({ keyId }: Caller): Promise<Verdict> {
    const requester = { address: `rate_limit of key ${keyId}` };
    const limits = { perMinute: ASKING_LIMIT, perDay: Infinity };
    return this.counter.count({ requester, limits, now: this.clock.now() });
  }

  /** The verdict that a request would get now, without counting one. */
  async look(source: Source): Promise<Verdict> {
    return this.counter.look(this.requestOf(source));
  }

  private requestOf(source: Source): CountedRequest {
    const now = this.clock.now();
    if ('address' in source) {
      return { requester: source, limits: { perMinute: this.addressLimit, perDay: Infinity }, now };
    }
    return { requester: source, limits: source.limits, now };
  }
}
