import {
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  currentUsage,
  decide,
  type Decision,
  type Instant,
  instant,
  type KeyRequester,
  NO_REFUSALS,
  NO_USAGE,
  type PlanLimits,
  type Refusals,
  type Requester,
  type Usage,
} from '@adoption-store/domain';
import { HeldUsage } from './held-usage.js';

/**
 * Of what an account has left, at most this part is reserved at a time. So nobody misses what another instance holds: to
 * run out within a period, an account would have to be sent 65,000 requests a second.
 */
export const RESERVED_PART = 1 / 16_384;

/** Milliseconds after which it is reckoned anew what an API key has reserved: of a tenth of the keys at a time. */
const PERIOD = 250;
const PARTS = 10;

/** Requests in two periods below which a key has none reserved: it would cost more than it saves. */
const FEWEST = 2;

/** Told how an account stands in a shared counter, what it has reserved included. */
export type OnReserved = (requester: Requester, usage: Usage, now: Instant) => void;

/** What an API key has reserved, and how fast it uses it: a usage from which the next decision goes on, where any are left. */
class Reserve extends HeldUsage {
  left = 0;
  refusals = NO_REFUSALS;
  /** Requests in this period, and in the one before. */
  came = 0;
  cameBefore = 0;
  /** When the last of them came. */
  cameAt = instant(0);
  /** Whether a call that asks for more is under way: the answers of two would each tell counts that the other hasn't. */
  isAskedFor = false;
  isForgotten = false;

  constructor(
    readonly owner: ReservedRequests,
    readonly requester: KeyRequester,
    public limits: PlanLimits,
  ) {
    super();
  }
}

/**
 * Requests that a shared counter has counted before they came, so that it isn't asked about each that an API key sends
 * one upon the other. The shared counter has admitted each, so no limit is exceeded. At the end of a period those that
 * haven't come are given back, and others reserved for the next.
 */
export class ReservedRequests {
  private readonly reserves = new Map<ApiKeyId, Reserve>();
  /** Those whose periods end together. */
  private readonly parts = Array.from({ length: PARTS }, () => new Map<ApiKeyId, Reserve>());
  /** The one whose period ended last. */
  private part = 0;
  private timer: NodeJS.Timeout | undefined;
  private latestSettlement: Promise<void> | undefined;

  /**
   * @param settle takes back so many that were counted in the windows of the request's `now`, and reserves so many, which
   * come by `keep` before it resolves; the request itself isn't counted. One call is answered after the other.
   * @param onKept is told how an account stands with all that it has reserved.
   */
  constructor(
    private readonly policy: BanPolicy,
    private readonly settle: (request: CountedRequest, back: number, ahead: number) => Promise<void>,
    private readonly onKept: OnReserved = () => undefined,
  ) {}

  /** The decision of a request that has been counted already; undefined where it is to be asked for. */
  take({ requester, limits, now }: CountedRequest): Decision | undefined {
    if (!('keyId' in requester) || reservable(NO_USAGE, limits) === 0) return undefined;
    const reserve = this.reserveOf(requester) ?? this.watch(requester, limits);
    reserve.came += 1;
    reserve.cameAt = now;
    const { refusals, left } = reserve;
    const usage = reserve.get();
    // A change of plan acts at once, and so does the end of a window.
    if (left === 0 || !areSame(reserve.limits, limits) || currentUsage(usage, now) !== usage) return undefined;
    reserve.left = left - 1;
    const decision = decide(usage, refusals, limits, now, this.policy);
    reserve.set(decision.usage);
    return decision;
  }

  /** How many of those that a key's account has used, in the windows of `usage`, haven't come. */
  leftOf(requester: Requester, usage: Usage): number {
    const reserve = 'keyId' in requester ? this.reserves.get(requester.keyId) : undefined;
    return reserve?.get().minuteStart === usage.minuteStart ? reserve.left : 0;
  }

  /** How many to reserve with a call that is made for this request, which `endAsking` ends; none while another is under way. */
  wantedWith({ requester }: CountedRequest): number {
    const reserve = 'keyId' in requester ? this.reserves.get(requester.keyId) : undefined;
    if (reserve === undefined || reserve.isAskedFor) return 0;
    const wanted = wantedBy(reserve);
    reserve.isAskedFor = wanted > 0;
    return wanted;
  }

  /** For each requester of a call that has asked for more, by `wantedWith` or `settle`: it is over, however it went. */
  endAsking(requester: Requester): void {
    const reserve = 'keyId' in requester ? this.reserves.get(requester.keyId) : undefined;
    if (reserve !== undefined) reserve.isAskedFor = false;
  }

  /** Keeps what was counted behind a request, after which its account and key stand so, where so many were wanted. */
  keep({ requester, limits, now }: CountedRequest, usage: Usage, refusals: Refusals, wanted: number): void {
    const count = refusals.bannedUntil > now ? 0 : Math.min(wanted, reservable(usage, limits));
    if (count === 0 || !('keyId' in requester)) return;
    const reserve = this.reserves.get(requester.keyId) ?? this.watch(requester, limits);
    this.renew(reserve, 0);
    reserve.limits = limits;
    reserve.set(usage);
    reserve.refusals = refusals;
    reserve.left = count;
    const minuteUsed = usage.minuteUsed + count;
    this.onKept(requester, { ...usage, minuteUsed, dayUsed: usage.dayUsed + count }, now);
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    // It may bring more.
    await this.latestSettlement;
    for (const reserve of this.reserves.values()) this.renew(reserve, 0);
    await this.latestSettlement;
    for (const [keyId, reserve] of this.reserves) this.forget(keyId, reserve);
  }

  private reserveOf(requester: KeyRequester): Reserve | undefined {
    return this.reserves.get(requester.keyId);
  }

  private watch(requester: KeyRequester, limits: PlanLimits): Reserve {
    const reserve = new Reserve(this, requester, limits);
    this.reserves.set(requester.keyId, reserve);
    this.parts[this.part]?.set(requester.keyId, reserve);
    this.timer ??= setTimeout(() => {
      this.endPeriods();
    }, PERIOD / PARTS).unref();
    return reserve;
  }

  private endPeriods(): void {
    this.part = (this.part + 1) % PARTS;
    const part = this.parts[this.part];
    part?.forEach((reserve, keyId) => {
      if (reserve.came === 0 && reserve.cameBefore === 0 && reserve.left === 0) {
        part.delete(keyId);
        this.forget(keyId, reserve);
        return;
      }
      if (!reserve.isAskedFor) this.renew(reserve, wantedBy(reserve));
      reserve.cameBefore = reserve.came;
      reserve.came = 0;
    });
    if (this.reserves.size > 0) this.timer?.refresh();
    else this.timer = undefined;
  }

  private forget(keyId: ApiKeyId, reserve: Reserve): void {
    this.reserves.delete(keyId);
    reserve.isForgotten = true;
  }

  /** Gives back what is left, and asks for so many. */
  private renew(reserve: Reserve, wanted: number): void {
    const { requester, limits, left, cameAt } = reserve;
    const usage = reserve.get();
    reserve.left = 0;
    if (left > 0 && currentUsage(usage, cameAt) !== usage) {
      // To windows that have ended since; the start of the minute is in both. The next request asks for more.
      this.latestSettlement = this.settle({ requester, limits, now: usage.minuteStart }, left, 0);
    } else if (left > 0 || wanted > 0) {
      reserve.isAskedFor = wanted > 0;
      this.latestSettlement = this.settle({ requester, limits, now: cameAt }, left, wanted);
    }
  }
}

/** Twice as many as came in this period and the one before: those that don't come cost nothing to give back. */
function wantedBy({ came, cameBefore }: Reserve): number {
  const recently = came + cameBefore;
  return recently < FEWEST ? 0 : 2 * recently;
}

/** How many may be reserved, as the script of request-counter-scripts.ts reckons it. */
function reservable({ minuteUsed, dayUsed }: Usage, { perMinute, perDay }: PlanLimits): number {
  return Math.max(0, Math.floor(Math.min(perMinute - minuteUsed, perDay - dayUsed) * RESERVED_PART));
}

export function areSame(some: PlanLimits, others: PlanLimits): boolean {
  return some.perMinute === others.perMinute && some.perDay === others.perDay;
}
