import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import type { PlanLimits } from '../accounts/plan.js';
import type { Instant } from '../kernel/clock.js';
import type { Verdict } from './quota.js';

export interface KeyRequester {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
}

/** The one that is counted: an account, whose keys share its windows while a ban hits one key, or an address without a key. */
export type Requester =
  | KeyRequester
  /** An address, or another text that stands for a bucket, is counted by the minute alone and never banned. */
  | { readonly address: string };

export interface CountedRequest {
  readonly requester: Requester;
  /** The limits; `perDay` is Infinity for an address. */
  readonly limits: PlanLimits;
  readonly now: Instant;
}

/**
 * Port: counts requests and decides of each. However many ask at once, each decision is one atomic step (`decide` in
 * quota.ts says which), so that N against L left admit exactly min(N, L).
 */
export interface RequestCounter {
  /** Decides of a request and counts it if it is admitted. */
  count(request: CountedRequest): Promise<Verdict>;
  /** The verdict that a request would get now. Nothing is counted. */
  look(request: CountedRequest): Promise<Verdict>;
  /** Clears away stored counts and bans that no decision asks for anymore from `now` on; how many. */
  purge(now: Instant): Promise<number>;
}
