import {
  type AccountId,
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  decide,
  type Decision,
  DAY,
  type Instant,
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

/** What must outlive the process: days, which are the account's, and bans, which are a key's. */
export interface LastingCounts {
  readonly usages: ReadonlyMap<AccountId, Usage>;
  readonly bans: ReadonlyMap<ApiKeyId, Refusals>;
}

/** Counts in this process alone. A decision runs to its end without yielding, which makes it atomic. */
export class InProcessRequestCounter implements RequestCounter {
  private readonly addresses = new ExpiringMap<string, Usage>(MINUTE);
  private readonly accounts = new ExpiringMap<AccountId, Usage>(DAY);
  /** Keys that were never refused have no entry. */
  private readonly refusals = new ExpiringMap<ApiKeyId, Refusals>(DAY, isBanRemembered);
  private changedUsages = new Map<AccountId, Usage>();
  private changedBans = new Map<ApiKeyId, Refusals>();

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
    const { usage, refusals } = this.known(requester);
    const decision = decide(usage, refusals, limits, now, this.policy);
    this.remember(requester, decision, now);
    if ('keyId' in requester) {
      if (decision.verdict.outcome === 'admitted') this.changedUsages.set(requester.accountId, decision.usage);
      if (decision.refusals.bannedAt !== refusals?.bannedAt) this.changedBans.set(requester.keyId, decision.refusals);
    }
    return decision.verdict;
  }

  async look({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    const { usage, refusals } = this.known(requester);
    return verdictOn(usage, limits, refusals, now);
  }

  async purge(now: Instant): Promise<number> {
    return this.purgeKept(now);
  }

  /** Goes on from a decision that was made elsewhere, and is kept there. */
  remember(requester: Requester, { usage, refusals }: Pick<Decision, 'usage' | 'refusals'>, now: Instant): void {
    if ('address' in requester) {
      this.addresses.set(requester.address, usage, now);
      return;
    }
    this.accounts.set(requester.accountId, usage, now);
    if (refusals !== NO_REFUSALS) this.refusals.set(requester.keyId, refusals, now);
  }

  /** Goes on from what an earlier process has left. */
  restore({ usages, bans }: LastingCounts, now: Instant): void {
    for (const [accountId, usage] of usages) this.accounts.set(accountId, usage, now);
    for (const [keyId, refusals] of bans) this.refusals.set(keyId, refusals, now);
  }

  /** What has changed since it was last taken; whoever takes it keeps it. */
  takeChanges(): LastingCounts {
    const changes = { usages: this.changedUsages, bans: this.changedBans };
    this.changedUsages = new Map();
    this.changedBans = new Map();
    return changes;
  }

  /** Gives back what couldn't be kept. What has changed since is newer. */
  putBack({ usages, bans }: LastingCounts): void {
    this.changedUsages = new Map([...usages, ...this.changedUsages]);
    this.changedBans = new Map([...bans, ...this.changedBans]);
  }

  private known(requester: Requester): { readonly usage: Usage; readonly refusals: Refusals | undefined } {
    if ('address' in requester)
      return { usage: this.addresses.get(requester.address) ?? NO_USAGE, refusals: undefined };
    return {
      usage: this.accounts.get(requester.accountId) ?? NO_USAGE,
      refusals: this.refusals.get(requester.keyId) ?? NO_REFUSALS,
    };
  }
}

/** A ban counts for as long as it lasts, and for a day towards the length of the next. */
function isBanRemembered({ bannedAt, bannedUntil }: Refusals, now: Instant): boolean {
  return now < Math.max(bannedAt + DAY, bannedUntil);
}
