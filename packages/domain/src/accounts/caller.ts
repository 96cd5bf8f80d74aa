import type { Instant } from '../kernel/clock.js';
import type { KeyRequester } from '../quotas/request-counter.js';
import type { Account, AccountId } from './account.js';
import type { ApiKey, ApiKeyId } from './api-key.js';
import type { AccountKey } from './api-key-repository.js';
import { limitsOf, type Plan, type PlanLimits } from './plan.js';

/**
 * Whom a key let in. What each request asks of it is side by side, as of thousands of keys whatever has to be fetched
 * from memory for itself costs more than all that is done with it.
 */
export class Caller implements AccountKey, KeyRequester {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
  readonly plan: Plan;
  readonly limits: PlanLimits;
  /** Not a field that a copy would take along. */
  #memo: unknown;

  /** @param judgedUntil when the key has to be judged again, should nothing else have happened to it. */
  constructor(
    readonly found: AccountKey,
    readonly judgedUntil: Instant,
  ) {
    const { account, key } = found;
    this.accountId = account.id;
    this.keyId = key.id;
    this.plan = account.plan;
    this.limits = limitsOf(account.plan);
  }

  get memo(): unknown {
    return this.#memo;
  }

  set memo(found: unknown) {
    this.#memo = found;
  }

  get account(): Account {
    return this.found.account;
  }

  get key(): ApiKey {
    return this.found.key;
  }
}
