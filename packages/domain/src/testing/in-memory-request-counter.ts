import type { ApiKeyId, KeyRequester } from '../accounts/keys/api-key.js';
import type { Instant } from '../kernel/clock.js';
import {
  banEnd,
  type BanPolicy,
  decideAdmission,
  NO_REFUSALS,
  NO_USAGE,
  type Refusals,
  type Usage,
  type Verdict,
  verdictOn,
} from '../limits/quota.js';
import type { CountedRequest, RequestCounter, Requester } from '../limits/request-counter.js';

export class InMemoryRequestCounter implements RequestCounter {
  private readonly usages = new Map<bigint | string, Usage>();
  private readonly refusals = new Map<bigint, Refusals>();

  constructor(private readonly policy: BanPolicy) {}

  async count({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    const decision = decideAdmission(this.known(requester), limits, now, this.policy);
    this.usages.set(subjectOf(requester), decision.usage);
    if ('keyId' in requester) this.refusals.set(requester.keyId, decision.refusals);
    return decision.verdict;
  }

  async peek({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    const { usage, refusals } = this.known(requester);
    return verdictOn(usage, limits, refusals, now);
  }

  async bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>> {
    return new Map(
      requesters.flatMap(({ keyId }) => {
        const end = banEnd(this.refusals.get(keyId), now);
        return end === undefined ? [] : [[keyId, end] as const];
      }),
    );
  }

  /** Does nothing, because nothing is stored. */
  async purge(): Promise<number> {
    return 0;
  }

  private known(requester: Requester) {
    return {
      usage: this.usages.get(subjectOf(requester)) ?? NO_USAGE,
      refusals: 'keyId' in requester ? (this.refusals.get(requester.keyId) ?? NO_REFUSALS) : undefined,
    };
  }
}

function subjectOf(requester: Requester): bigint | string {
  return 'keyId' in requester ? requester.accountId : requester.address;
}
