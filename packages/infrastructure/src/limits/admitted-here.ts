import {
  type AccountId,
  type CountedRequest,
  DAY,
  decideAdmission,
  DEFAULT_BAN_POLICY,
  later,
  MINUTE,
  NO_USAGE,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { ExpiringMap } from './in-process-request-counter.js';

/**
 * The requests that this process has admitted, whether Redis or this process decided. A process admits at most a limit
 * in its window, so n instances admit at most n times the limit, however often Redis is lost and loses its counts.
 *
 * The bound applies only on days on which Redis was lost. On other days Redis' counts include those of this process,
 * and an operator may reset them.
 */
export class AdmittedHere {
  private readonly addresses = new ExpiringMap<string, Usage>(MINUTE);
  private readonly accounts = new ExpiringMap<AccountId, Usage>(DAY);
  /** The end of the latest day on which Redis was lost. */
  private boundUntil = 0;

  /** Redis was lost in the day of this verdict. */
  bind({ day }: Verdict): void {
    this.boundUntil = Math.max(this.boundUntil, day.resetsAt);
  }

  /** Counts a request that was admitted. Returns the verdict, or the refusal of this process. */
  count({ requester, limits }: CountedRequest, verdict: Verdict): Verdict {
    if (verdict.outcome !== 'admitted') return verdict;
    const counts = { usage: this.usageOf(requester), refusals: undefined };
    // The window of the verdict, because Redis' windows may differ from those of this process's clock.
    const own = decideAdmission(counts, limits, later(verdict.minute.resetsAt, -MINUTE), DEFAULT_BAN_POLICY);
    if (own.verdict.outcome !== 'admitted' && this.isBound(verdict)) return own.verdict;
    if ('address' in requester) this.addresses.set(requester.address, own.usage, own.usage.minuteStart);
    else this.accounts.set(requester.accountId, own.usage, own.usage.minuteStart);
    return verdict;
  }

  /** The verdict, or the refusal of this process, without counting a request. */
  peek({ requester, limits }: CountedRequest, verdict: Verdict): Verdict {
    if (verdict.outcome !== 'admitted' || !this.isBound(verdict)) return verdict;
    const own = verdictOn(this.usageOf(requester), limits, undefined, later(verdict.minute.resetsAt, -MINUTE));
    return own.outcome === 'admitted' ? verdict : own;
  }

  private isBound({ day }: Verdict): boolean {
    return day.resetsAt <= this.boundUntil;
  }

  private usageOf(requester: Requester): Usage {
    const usage =
      'address' in requester ? this.addresses.get(requester.address) : this.accounts.get(requester.accountId);
    return usage ?? NO_USAGE;
  }
}
