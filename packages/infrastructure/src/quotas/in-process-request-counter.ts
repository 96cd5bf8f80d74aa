import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  decide,
  type Decision,
  DAY,
  type Instant,
  type KeyRequester,
  MINUTE,
  NO_REFUSALS,
  NO_USAGE,
  type Refusals,
  type RequestCounter,
  type Requester,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import { ExpiringMap } from './expiring-map.js';
import { HeldUsage } from './held-usage.js';

/** What must outlive the process: days, which are the account's, and bans, which are a key's. */
export interface LastingCounts {
  readonly usages: ReadonlyMap<AccountId, Usage>;
  readonly bans: ReadonlyMap<ApiKeyId, Refusals>;
}

/** How an account stands. */
class Account extends HeldUsage {
  /** Whether it has changed since the changes were last taken. */
  isChanged = false;

  constructor(readonly id: AccountId) {
    super();
  }
}

/** Counts in this process alone. A decision runs to its end without yielding, which makes it atomic. */
export class InProcessRequestCounter implements RequestCounter {
  private readonly addresses = new ExpiringMap<string, Usage>(MINUTE);
  private readonly accounts = new ExpiringMap<AccountId, Account>(DAY);
  /** Keys that were never refused have no entry. */
  private readonly refusals = new ExpiringMap<ApiKeyId, Refusals>(DAY, isBanRemembered);
  private changedAccounts: Account[] = [];
  private putBackUsages: LastingCounts['usages'] = new Map();
  private changedBans = new Map<ApiKeyId, Refusals>();
  private readonly newAccount = (id: AccountId) => new Account(id);

  /** @param purgeKept clears away what is kept elsewhere; here everything is forgotten by itself. */
  constructor(
    private readonly policy: BanPolicy,
    private readonly purgeKept: (now: Instant) => Promise<number> = () => Promise.resolve(0),
  ) {}

  /** Entries held, for whoever watches that memory stays bounded. */
  get size(): number {
    return this.addresses.size + this.accounts.size + this.refusals.size;
  }

  async count({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    if ('address' in requester) {
      const usage = this.addresses.get(requester.address) ?? NO_USAGE;
      const decision = decide(usage, undefined, limits, now, this.policy);
      this.addresses.set(requester.address, decision.usage, now);
      return decision.verdict;
    }
    const account = this.accountOf(requester, now);
    const { keyId } = requester;
    const refusals = this.refusals.get(keyId) ?? NO_REFUSALS;
    const decision = decide(account.get(), refusals, limits, now, this.policy);
    account.set(decision.usage);
    if (decision.verdict.outcome === 'admitted') this.noteChange(account);
    if (decision.refusals !== refusals) {
      this.refusals.set(keyId, decision.refusals, now);
      if (decision.refusals.bannedAt !== refusals.bannedAt) this.changedBans.set(keyId, decision.refusals);
    }
    return decision.verdict;
  }

  /** The refusal of an address that is known to have no room: until its minute ends, nobody needs to be asked. */
  refusalOf({ requester, limits, now }: CountedRequest): Verdict | undefined {
    if (!('address' in requester)) return undefined;
    const usage = this.addresses.get(requester.address);
    const verdict = usage && verdictOn(usage, limits, undefined, now);
    return verdict?.outcome === 'admitted' ? undefined : verdict;
  }

  async look({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    if ('address' in requester) {
      return verdictOn(this.addresses.get(requester.address) ?? NO_USAGE, limits, undefined, now);
    }
    const usage = this.accounts.get(requester.accountId)?.get() ?? NO_USAGE;
    return verdictOn(usage, limits, this.refusals.get(requester.keyId), now);
  }

  async purge(now: Instant): Promise<number> {
    return this.purgeKept(now);
  }

  /**
   * Goes on from a decision that was made elsewhere, and is kept there. Decisions come in another order than they were
   * made: the highest count in a window stays.
   */
  remember(requester: Requester, { usage, refusals }: Pick<Decision, 'usage' | 'refusals'>, now: Instant): void {
    if ('address' in requester) {
      this.addresses.set(requester.address, usage, now);
      return;
    }
    const account = this.accountOf(requester, now);
    account.set(highestOf(account.get(), usage));
    if (refusals !== NO_REFUSALS) this.refusals.set(requester.keyId, refusals, now);
  }

  /** Goes on from what an earlier process has left. */
  restore({ usages, bans }: LastingCounts, now: Instant): void {
    for (const [accountId, usage] of usages) this.accounts.getOrSet(accountId, this.newAccount, now).set(usage);
    for (const [keyId, refusals] of bans) this.refusals.set(keyId, refusals, now);
  }

  /** What has changed since it was last taken; whoever takes it keeps it. */
  takeChanges(): LastingCounts {
    const usages = new Map(this.putBackUsages);
    for (const account of this.changedAccounts) {
      account.isChanged = false;
      usages.set(account.id, account.get());
    }
    const bans = this.changedBans;
    this.putBackUsages = new Map();
    this.changedAccounts = [];
    this.changedBans = new Map();
    return { usages, bans };
  }

  /** Gives back what couldn't be kept. What has changed since is newer. */
  putBack({ usages, bans }: LastingCounts): void {
    this.putBackUsages = new Map([...usages, ...this.putBackUsages]);
    this.changedBans = new Map([...bans, ...this.changedBans]);
  }

  private accountOf(requester: KeyRequester, now: Instant): Account {
    return this.accounts.getOrSet(requester.accountId, this.newAccount, now);
  }

  private noteChange(account: Account): void {
    if (account.isChanged) return;
    account.isChanged = true;
    this.changedAccounts.push(account);
  }
}

function highestOf(one: Usage, other: Usage): Usage {
  const minute = one.minuteStart - other.minuteStart || one.minuteUsed - other.minuteUsed;
  const day = one.dayStart - other.dayStart || one.dayUsed - other.dayUsed;
  const { minuteStart, minuteUsed } = minute > 0 ? one : other;
  const { dayStart, dayUsed } = day > 0 ? one : other;
  return { minuteStart, minuteUsed, dayStart, dayUsed };
}

/** A ban counts for as long as it lasts, and for a day towards the length of the next. */
function isBanRemembered({ bannedAt, bannedUntil }: Refusals, now: Instant): boolean {
  return now < Math.max(bannedAt + DAY, bannedUntil);
}
