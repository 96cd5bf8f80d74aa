import type { AccountId } from '../accounts/account.js';
import { type ApiKey, type ApiKeyId, requireTheirs } from '../accounts/keys/api-key.js';
import type { Plan } from '../accounts/plan.js';
import { type Instant, later, startOf } from '../kernel/clock.js';
import { DomainError, kernelErrors } from '../kernel/errors.js';
import { NO_USAGE, type QuotaWindow, verdictOn } from './quota.js';
import { type PeriodOfUsage, type Outcomes, USAGE_SPANS, type UsageSpan } from './request-records.js';
import type { LimitPorts } from './ports.js';

/** Hours shown, including the current one. */
export const HOURS_SHOWN = 48;
/** Days shown, including today. */
const DAYS_SHOWN = 90;
/** Past keys whose usage is shown, the latest ended first. The bound keeps the query small. */
const PAST_KEYS_SHOWN = 25;

const NONE: Outcomes = { admitted: 0, refused: 0 };

interface KeyUsage {
  readonly key: ApiKey;
  readonly today: Outcomes;
  readonly hours: Outcomes;
  readonly days: Outcomes;
}

export interface AccountUsage {
  readonly plan: Plan;
  readonly minute: QuotaWindow;
  readonly today: QuotaWindow;
  readonly refusedToday: number;
  /** The keys banned now, and the end of each ban. */
  readonly bans: readonly { readonly key: ApiKey; readonly until: Instant }[];
  /** The time of the last request that is included. Undefined if there was none in the hours shown. */
  readonly asOf: Instant | undefined;
  /** The key that `hours` and `days` are about. Undefined: all keys together. */
  readonly key: ApiKey | undefined;
  /** The last 48 UTC hours, oldest first, including hours without usage. */
  readonly hours: readonly PeriodOfUsage[];
  /** The last 90 UTC days, oldest first, including days without usage. */
  readonly days: readonly PeriodOfUsage[];
  /** By key, ascending by id: every active key, and of the 25 that ended last those used within these days. */
  readonly keys: readonly KeyUsage[];
  /** The usage of all keys together in the days shown. */
  readonly total: Outcomes;
}

export interface GetUsageInput {
  readonly accountId: AccountId;
  /** The key whose hours and days are shown. Default: all keys together. */
  readonly keyId?: ApiKeyId | undefined;
}

/** An account's use of its plan, now and over the last hours and days. */
export class GetUsage {
  constructor(
    private readonly ports: Pick<LimitPorts, 'accounts' | 'apiKeys' | 'requests' | 'requestRecords' | 'clock'>,
  ) {}

  /** @throws DomainError `not_found` if there is no such account, it is closed, or it has no such key. */
  async execute({ accountId, keyId }: GetUsageInput): Promise<AccountUsage> {
    const now = this.ports.clock.now();
    const [firstHour, firstDay] = [firstOf('hour', HOURS_SHOWN, now), firstOf('day', DAYS_SHOWN, now)];
    const startOfDay = startOf(USAGE_SPANS.day, now);
    const ofAll = this.ports.requestRecords.listUsage(accountId, 'day', firstDay);
    const [account, key, active, past, hours, all, days, asOf] = await Promise.all([
      this.ports.accounts.findById(accountId),
      this.keyOf(accountId, keyId),
      this.ports.apiKeys.listActive(accountId, now),
      this.ports.apiKeys.listPast({ accountId, at: now, limit: PAST_KEYS_SHOWN }),
      this.ports.requestRecords.listUsage(accountId, 'hour', firstHour, keyId),
      ofAll,
      keyId === undefined ? ofAll : this.ports.requestRecords.listUsage(accountId, 'day', firstDay, keyId),
      this.ports.requestRecords.lastIncluded(accountId, firstHour),
    ]);
    if (account === undefined) throw new DomainError(kernelErrors.not_found, `no account has the id ${accountId}`);
    const keys = [...active, ...past].sort((one, other) => Number(one.id - other.id));
    const ids = keys.map(({ id }) => id);
    const [byKeyToday, byKeyInHours, byKeyInDays] = await Promise.all([
      this.ports.requestRecords.sumUsageByKey(accountId, 'day', startOfDay, ids),
      this.ports.requestRecords.sumUsageByKey(accountId, 'hour', firstHour, ids),
      this.ports.requestRecords.sumUsageByKey(accountId, 'day', firstDay, ids),
    ]);
    const limits = account.plan;
    const requesters = ids.map((each) => ({ accountId, keyId: each }));
    const bans = await this.ports.requests.bansOf(requesters, now);
    // All keys of an account share its windows, so any key shows them.
    const [requester] = requesters;
    const { minute, day } =
      requester === undefined
        ? verdictOn(NO_USAGE, limits, undefined, now)
        : await this.ports.requests.peek({ requester, limits, now });
    return {
      plan: account.plan,
      minute,
      today: day,
      refusedToday: all.find(({ start }) => start === startOfDay)?.refused ?? 0,
      bans: active.flatMap((each) => {
        const until = bans.get(each.id);
        return until === undefined ? [] : [{ key: each, until }];
      }),
      asOf,
      key,
      hours: periodsUntil('hour', HOURS_SHOWN, now, hours),
      days: periodsUntil('day', DAYS_SHOWN, now, days),
      keys: keys.flatMap((each) => {
        const of = (sums: typeof byKeyInDays) => sums.find((sum) => sum.keyId === each.id);
        const inDays = of(byKeyInDays);
        if (inDays === undefined && !active.includes(each)) return [];
        return [{ key: each, today: of(byKeyToday) ?? NONE, hours: of(byKeyInHours) ?? NONE, days: inDays ?? NONE }];
      }),
      total: sumOf(all),
    };
  }

  private async keyOf(accountId: AccountId, keyId: ApiKeyId | undefined): Promise<ApiKey | undefined> {
    if (keyId === undefined) return undefined;
    return requireTheirs((await this.ports.apiKeys.findById(keyId))?.key, { id: keyId, accountId });
  }
}

/** The start of the first of `count` successive hours or days, of which the last one contains `now`. */
function firstOf(span: UsageSpan, count: number, now: Instant): Instant {
  return later(startOf(USAGE_SPANS[span], now), -(count - 1) * USAGE_SPANS[span]);
}

/** The last `count` hours or days, oldest first. The last one contains `now`. One without a record has no usage. */
function periodsUntil(
  span: UsageSpan,
  count: number,
  now: Instant,
  records: readonly PeriodOfUsage[],
): readonly PeriodOfUsage[] {
  const byStart = new Map(records.map((record) => [record.start, record]));
  const first = firstOf(span, count, now);
  return Array.from({ length: count }, (_, index) => {
    const start = later(first, index * USAGE_SPANS[span]);
    return byStart.get(start) ?? { start, ...NONE };
  });
}

export function sumOf(usages: readonly Outcomes[]): Outcomes {
  return {
    admitted: usages.reduce((sum, { admitted }) => sum + admitted, 0),
    refused: usages.reduce((sum, { refused }) => sum + refused, 0),
  };
}
