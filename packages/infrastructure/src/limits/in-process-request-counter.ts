import {
  type AccountId,
  type ApiKeyId,
  banEnd,
  type BanPolicy,
  type CountedRequest,
  DAY,
  decideAdmission,
  type Instant,
  isAhead,
  type KeyRequester,
  later,
  mergeUsage,
  MINUTE,
  NO_USAGE,
  type Refusals,
  type RequestCounter,
  startOf,
  type Usage,
  type Verdict,
  verdictOn,
} from '@adoption-store/domain';
import type { HeldUsage, KeyCounts, PostgresCountsStore } from './postgres-counts-store.js';

/**
 * Counts in this process only. A decision is synchronous and therefore atomic. The stored counts of an account and a
 * key are read at their first request. They are read again if the counts in memory are from the future, because the
 * clock was ahead and has been corrected.
 */
export class InProcessRequestCounter implements RequestCounter {
  private readonly addresses = new ExpiringMap<string, Usage>(MINUTE);
  private readonly accounts = new ExpiringMap<AccountId, HeldUsage>(DAY);
  /**
   * Kept for two days: a ban affects the length of the next one for a day, and the clock may be set back meanwhile. An
   * entry that is dropped does no harm, because it is stored and read again.
   */
  private readonly keys = new ExpiringMap<ApiKeyId, Refusals>(2 * DAY);

  constructor(
    private readonly policy: BanPolicy,
    private readonly stored: PostgresCountsStore,
  ) {}

  /** The number of addresses and accounts in memory, for a test that it stays bounded. */
  get size(): number {
    return this.addresses.size + this.accounts.size;
  }

  count(request: CountedRequest): Verdict | Promise<Verdict> {
    const { requester, limits, now } = request;
    if ('address' in requester) {
      const usage = this.addresses.get(requester.address) ?? NO_USAGE;
      const decision = decideAdmission({ usage, refusals: undefined }, limits, now, this.policy);
      this.addresses.set(requester.address, decision.usage, now);
      return decision.verdict;
    }
    const held = this.accounts.get(requester.accountId);
    const refusals = this.keys.get(requester.keyId);
    if (held !== undefined && refusals !== undefined && areUsable(held.usage, refusals, now)) {
      return this.decide(request, requester, held, refusals);
    }
    return this.stored.read(requester).then((stored) => {
      const counts = this.knownOr(stored, requester, now);
      return this.decide(request, requester, this.hold(requester, counts, now), counts.refusals);
    });
  }

  /** The refusal of an address that has no requests left in its minute. Undefined if Redis must decide. */
  refusalOf({ requester, limits, now }: CountedRequest): Verdict | undefined {
    const usage = 'address' in requester ? this.addresses.get(requester.address) : undefined;
    const verdict = usage && verdictOn(usage, limits, undefined, now);
    return verdict?.outcome === 'admitted' ? undefined : verdict;
  }

  /**
   * Reads the stored counts, because a process that only shows counts has none in memory. They are at most a second
   * old.
   */
  async peek({ requester, limits, now }: CountedRequest): Promise<Verdict> {
    if ('address' in requester) {
      return verdictOn(this.addresses.get(requester.address) ?? NO_USAGE, limits, undefined, now);
    }
    const { usage, refusals } =
      this.known(requester, now) ?? this.knownOr(await this.stored.read(requester), requester, now);
    return verdictOn(usage, limits, refusals, now);
  }

  async bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>> {
    const stored = await this.stored.readAll(requesters);
    return new Map(
      requesters.flatMap(({ keyId }, place) => {
        const end = banEnd(this.refusalsOf(keyId, now) ?? stored[place]?.refusals, now);
        return end === undefined ? [] : [[keyId, end] as const];
      }),
    );
  }

  async purge(now: Instant): Promise<number> {
    return this.stored.purge(now);
  }

  /**
   * Copies the counts of a decision of Redis. Decisions may arrive in another order than they were made, so the counts
   * are merged.
   */
  remember({ requester, now }: CountedRequest, { usage, refusals }: KeyCounts): void {
    if ('address' in requester) this.addresses.set(requester.address, usage, now);
    else {
      const known = this.accounts.get(requester.accountId)?.usage ?? NO_USAGE;
      this.hold(requester, { usage: mergeUsage(known, usage, now), refusals }, now);
    }
  }

  private decide({ limits, now }: CountedRequest, requester: KeyRequester, held: HeldUsage, known: Refusals): Verdict {
    const decision = decideAdmission({ usage: held.usage, refusals: known }, limits, now, this.policy);
    const { verdict, usage, refusals } = decision;
    held.usage = usage;
    if (refusals !== known) this.keys.set(requester.keyId, refusals, now);
    const isBan = refusals.bannedAt !== known.bannedAt;
    if (isBan || verdict.outcome === 'admitted') this.stored.store(requester, held, refusals);
    return verdict;
  }

  private known({ accountId, keyId }: KeyRequester, now: Instant): KeyCounts | undefined {
    const usage = this.accounts.get(accountId)?.usage;
    const refusals = this.keys.get(keyId);
    if (usage === undefined || refusals === undefined) return undefined;
    return areUsable(usage, refusals, now) ? { usage, refusals } : undefined;
  }

  /** Merges the stored counts with those in memory: other requests may have been counted during the read. */
  private knownOr(stored: KeyCounts, { accountId, keyId }: KeyRequester, now: Instant): KeyCounts {
    return {
      usage: mergeUsage(stored.usage, this.accounts.get(accountId)?.usage ?? NO_USAGE, now),
      refusals: this.refusalsOf(keyId, now) ?? stored.refusals,
    };
  }

  private refusalsOf(keyId: ApiKeyId, now: Instant): Refusals | undefined {
    const refusals = this.keys.get(keyId);
    return refusals && !isAhead(refusals.bannedAt, now) ? refusals : undefined;
  }

  private hold({ accountId, keyId }: KeyRequester, { usage, refusals }: KeyCounts, now: Instant): HeldUsage {
    const known = this.accounts.get(accountId);
    const held = known ?? { usage, isChanged: false };
    if (known === undefined) this.accounts.set(accountId, held, now);
    else known.usage = usage;
    this.keys.set(keyId, refusals, now);
    return held;
  }
}

/** Counts from the future aren't. */
function areUsable({ dayStart }: Usage, { bannedAt }: Refusals, now: Instant): boolean {
  return !isAhead(dayStart, now) && !isAhead(bannedAt, now);
}

/**
 * A map that drops an entry one to two windows after its last use. It has two generations, and drops the older one as a
 * whole, which costs nothing per entry. If the clock is set back by less than a window, no entry is lost.
 */
export class ExpiringMap<Key, Value> {
  private current = new Map<Key, Value>();
  private previous = new Map<Key, Value>();
  private endsAt = 0;

  /** @param length of a window, in milliseconds. */
  constructor(private readonly length: number) {}

  get size(): number {
    return this.current.size + this.previous.size;
  }

  get(key: Key): Value | undefined {
    const known = this.current.get(key);
    if (known !== undefined) return known;
    const earlier = this.previous.get(key);
    if (earlier !== undefined) this.current.set(key, earlier);
    return earlier;
  }

  set(key: Key, value: Value, now: Instant): void {
    const isOver = now >= this.endsAt;
    if (isOver) {
      this.previous = this.current;
      this.current = new Map();
    }
    // If the clock was far ahead and has been corrected, nothing is dropped: the next window may begin soon.
    if (isOver || now < this.endsAt - 2 * this.length) this.endsAt = later(startOf(this.length, now), this.length);
    this.current.set(key, value);
  }
}
