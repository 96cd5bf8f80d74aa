import type { KeyRequester } from './key-bans.js';
import type { AccountKey } from './api-key-repository.js';
import type { Plan, PlanLimits } from './plan.js';

/** The account and the key of an authenticated request. */
export interface Caller extends AccountKey, KeyRequester {
  readonly plan: Plan;
  readonly limits: PlanLimits;
}
