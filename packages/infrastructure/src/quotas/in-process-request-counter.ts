import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  DAY,
  decide,
  type Decision,
  type Instant,
  type KeyRequester,
  MINUTE,
  NO_REFUSALS,
  NO_USAGE,
  type Refusals,
  type RequestCounter,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { ExpiringMap } from './expiring-map.js';

/** How an account and one of its keys stand. */
export type KeyCounts = Pick<Decision, 'usage' | 'refusals'>;

/** How an account and its keys stand. */
export interface AccountCounts {
  usage: Usage;
  /** Of each key that has been counted here. */
  readonly refusals: Map<ApiKeyId, Refusals>;
}

/** Where days and bans outlive the process. */
export interface CountsStore {
  /** @throws DomainError `service_unavailable` */
  read(requester: KeyRequester): Promise<KeyCounts>;
  /** Stores soon how the account stands by then. Nobody waits for it, and it never fails. */
  store(id: AccountId, counts: AccountCounts): void;
  /** Deletes what no process asks for anymore from `now` on; how many rows. */
  purge(now: Instant): Promise<number>;
}

/**
 * Counts in this process alone. A decision runs to its end without yielding, which makes it atomic. What is stored of an
 * account and a key is read when they are first counted.
 */
export class InProcessRequestCounter implements RequestCounter {
  private readonly addresses = new ExpiringMap<string, Usage>(MINUTE);
  private readonly accounts = new ExpiringMap<AccountId, AccountCounts>(DAY);

  constructor(
    private readonly policy: BanPolicy,
    private readonly stored: CountsStore,
  ) {}

  /** Number of entries, to watch that memory stays bounded. */
  get size(): number {
    return this.addresses.size + this.accounts.size;
  }

  async count({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    if ('address' in requester) {
      const usage = this.addresses.get(requester.address) ?? NO_USAGE;
      const decision = decide(usage, undefined, limits, now, this.policy);
      this.addresses.set(requester.address, decision.usage, now);
      return decision.verdict;
    }
    const { accountId, keyId } = requester;
    const known = this.accounts.get(accountId);
    const counts = known?.refusals.has(keyId) === true ? known : await this.begin(requester, now);
    const refusals = counts.refusals.get(keyId) ?? NO_REFUSALS;
    const decision = decide(counts.usage, refusals, limits, now, this.policy);
    if (decision.usage.dayStart !== counts.usage.dayStart) forgetOldRefusals(counts, now);
    counts.usage = decision.usage;
    counts.refusals.set(keyId, decision.refusals);
    this.accounts.set(accountId, counts, now);
    const isBan = decision.refusals.bannedAt !== refusals.bannedAt;
    if (isBan || decision.verdict.outcome === 'admitted') this.stored.store(accountId, counts);
    return decision.verdict;
  }

  /** The refusal of an address that is known to have no room until its minute ends. */
  refusalOf({ requester, limits, now }: CountedRequest): Verdict | undefined {
    const usage = 'address' in requester ? this.addresses.get(requester.address) : undefined;
    const verdict = usage && verdictOn(usage, limits, undefined, now);
    return verdict?.outcome === 'admitted' ? undefined : verdict;
  }

  /** Where other processes count a key, each look reads what they have stored within the last second. */
  async look({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    if ('address' in requester) {
      return verdictOn(this.addresses.get(requester.address) ?? NO_USAGE, limits, undefined, now);
    }
    const counts = this.accounts.get(requester.accountId);
    const refusals = counts?.refusals.get(requester.keyId);
    if (counts !== undefined && refusals !== undefined) return verdictOn(counts.usage, limits, refusals, now);
    const stored = await this.stored.read(requester);
    return verdictOn(counts?.usage ?? stored.usage, limits, stored.refusals, now);
  }

  async purge(now: Instant): Promise<number> {
    return this.stored.purge(now);
  }

  /**
   * Takes over a decision of the shared counter. Decisions may arrive in another order than they were made: the highest
   * count in a window stays.
   */
  remember({ requester, now }: CountedRequest, { usage, refusals }: KeyCounts): void {
    if ('address' in requester) {
      this.addresses.set(requester.address, usage, now);
      return;
    }
    const { accountId, keyId } = requester;
    const counts = this.accounts.get(accountId) ?? { usage, refusals: new Map<ApiKeyId, Refusals>() };
    counts.usage = highestOf(counts.usage, usage);
    counts.refusals.set(keyId, refusals);
    this.accounts.set(accountId, counts, now);
  }

  private async begin(requester: KeyRequester, now: Instant): Promise<AccountCounts> {
    const { accountId, keyId } = requester;
    const { usage, refusals } = await this.stored.read(requester);
    // Other requests may have been counted meanwhile.
    const counts = this.accounts.get(accountId) ?? { usage, refusals: new Map<ApiKeyId, Refusals>() };
    if (!counts.refusals.has(keyId)) counts.refusals.set(keyId, refusals);
    this.accounts.set(accountId, counts, now);
    return counts;
  }
}

function highestOf(one: Usage, other: Usage): Usage {
  const minute = one.minuteStart - other.minuteStart || one.minuteUsed - other.minuteUsed;
  const day = one.dayStart - other.dayStart || one.dayUsed - other.dayUsed;
  const { minuteStart, minuteUsed } = minute > 0 ? one : other;
  const { dayStart, dayUsed } = day > 0 ? one : other;
  return { minuteStart, minuteUsed, dayStart, dayUsed };
}

/** A ban matters for a day after it began, or until it ends. Another day is for clocks that lag. */
function forgetOldRefusals({ refusals }: AccountCounts, now: Instant): void {
  for (const [keyId, { minuteStart, bannedUntil }] of refusals) {
    if (Math.max(minuteStart, bannedUntil) + 2 * DAY < now) refusals.delete(keyId);
  }
}
