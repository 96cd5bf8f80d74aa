import type { KeyRequester } from '../accounts/keys/api-key.js';
import type { KeyBans } from '../accounts/keys/key-bans.js';
import type { PlanLimits } from '../accounts/plan.js';
import type { Instant } from '../kernel/clock.js';
import type { Verdict } from './quota.js';

/**
 * The counted subject: an account (its keys share its windows, a ban applies to one key), or an address without a key.
 */
export type Requester =
  | KeyRequester
  /** An address, or the name of another bucket. It is counted by the minute only and never banned. */
  | { readonly address: string };

export interface CountedRequest {
  readonly requester: Requester;
  /** `perDay` is Infinity for an address. */
  readonly limits: PlanLimits;
  readonly now: Instant;
}

/**
 * Port: counts requests and decides about each (`decideAdmission` in quota.ts). Each decision is one atomic step, so that N
 * concurrent requests against L left admit exactly min(N, L).
 */
export interface RequestCounter extends KeyBans {
  /** Decides about a request, and counts it if it is admitted. Without a promise if this process decides alone. */
  count(request: CountedRequest): Verdict | Promise<Verdict>;
  /** The verdict that a request would get now, without counting one. */
  peek(request: CountedRequest): Promise<Verdict>;
  /** Deletes stored counts and bans that can no longer affect a decision. Returns their number. */
  purge(now: Instant): Promise<number>;
}
