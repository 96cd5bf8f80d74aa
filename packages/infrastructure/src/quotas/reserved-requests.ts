import {
  type ApiKeyId,
  type BanPolicy,
  type CountedRequest,
  currentUsage,
  decide,
  type Decision,
  type Instant,
  type PlanLimits,
  type Requester,
  type Usage,
} from '@adoption-store/domain';

/**
 * Of what an account has left, at most this part is reserved at a time: with fewer than 1,024 left nothing is, so that
 * the last ones go to whoever asks for them.
 */
export const RESERVED_PART = 1 / 1_024;

/** Milliseconds whose requests are reserved. What is reserved is given back after two such periods at the latest. */
const PERIOD = 10;

/** What an API key has reserved, and how fast it uses it. */
interface Reserve {
  readonly requester: Requester;
  readonly limits: PlanLimits;
  /** From which the next decision goes on. */
  latest: Decision | undefined;
  left: number;
  /** Whether what is left has seen the end of a period. */
  isOld: boolean;
  /** Requests in this period, and in the one before. */
  came: number;
  cameBefore: number;
  /** How many to reserve with the next call; none from one that does until it is answered, or the period ends. */
  wanted: number;
}

/**
 * Requests that a shared counter has counted before they came, so that it isn't asked about each that an API key sends
 * one upon the other. The shared counter has admitted each, so no limit is exceeded; those that don't come are given back.
 */
export class ReservedRequests {
  private readonly reserves = new Map<ApiKeyId, Reserve>();
  private timer: NodeJS.Timeout | undefined;

  /** @param giveBack takes back so many that were counted in the windows of `now`. */
  constructor(
    private readonly policy: BanPolicy,
    private readonly giveBack: (requester: Requester, count: number, now: Instant) => Promise<void>,
  ) {}

  /** The decision of a request that has been counted already; undefined where it is to be asked for. */
  take({ requester, limits, now }: CountedRequest): Decision | undefined {
    if (!('keyId' in requester)) return undefined;
    const reserve = this.reserves.get(requester.keyId) ?? this.watch(requester.keyId, requester, limits);
    reserve.came += 1;
    const { latest, left } = reserve;
    if (left === 0 || latest === undefined) return undefined;
    // A change of plan acts at once, and so does the end of a window.
    if (!areSame(reserve.limits, limits) || currentUsage(latest.usage, now) !== latest.usage) return undefined;
    reserve.left = left - 1;
    return (reserve.latest = decide(latest.usage, latest.refusals, limits, now, this.policy));
  }

  /** How many to reserve with a call that is made for this request. */
  wantedWith({ requester, limits }: CountedRequest): number {
    const reserve = 'keyId' in requester ? this.reserves.get(requester.keyId) : undefined;
    if (reserve === undefined || !areSame(reserve.limits, limits)) return 0;
    const { wanted } = reserve;
    reserve.wanted = 0;
    return wanted;
  }

  /** Keeps what was counted behind a request that was admitted by `latest`, where so many were wanted. */
  keep({ requester, limits }: CountedRequest, latest: Decision, wanted: number): void {
    const count = Math.min(wanted, reservable(latest.usage, limits));
    if (count === 0 || !('keyId' in requester)) return;
    const { keyId } = requester;
    const known = this.reserves.get(keyId);
    if (known !== undefined) void this.drop(known);
    const reserve = known !== undefined && areSame(known.limits, limits) ? known : this.watch(keyId, requester, limits);
    reserve.latest = latest;
    reserve.left = count;
    reserve.isOld = false;
    reserve.wanted = reserve.cameBefore;
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await Promise.all(Array.from(this.reserves.values(), (reserve) => this.drop(reserve)));
    this.reserves.clear();
  }

  private watch(keyId: ApiKeyId, requester: Requester, limits: PlanLimits): Reserve {
    const nothing = { latest: undefined, left: 0, isOld: false, came: 0, cameBefore: 0, wanted: 0 };
    const reserve = { requester, limits, ...nothing };
    this.reserves.set(keyId, reserve);
    this.timer ??= setTimeout(() => {
      this.endPeriod();
    }, PERIOD).unref();
    return reserve;
  }

  private endPeriod(): void {
    for (const [keyId, reserve] of this.reserves) {
      if (reserve.isOld) void this.drop(reserve);
      if (reserve.came === 0 && reserve.left === 0) this.reserves.delete(keyId);
      reserve.isOld = true;
      reserve.wanted = reserve.cameBefore = reserve.came;
      reserve.came = 0;
    }
    if (this.reserves.size > 0) this.timer?.refresh();
    else this.timer = undefined;
  }

  private async drop(reserve: Reserve): Promise<void> {
    const { requester, left, latest } = reserve;
    reserve.left = 0;
    // The start of its minute is in both of its windows.
    if (left > 0 && latest !== undefined) await this.giveBack(requester, left, latest.usage.minuteStart);
  }
}

/** How many may be reserved, as the script of request-counter-scripts.ts reckons it. */
function reservable({ minuteUsed, dayUsed }: Usage, { perMinute, perDay }: PlanLimits): number {
  return Math.floor(Math.min(perMinute - minuteUsed, perDay - dayUsed) * RESERVED_PART);
}

export function areSame(some: PlanLimits, others: PlanLimits): boolean {
  return some.perMinute === others.perMinute && some.perDay === others.perDay;
}
