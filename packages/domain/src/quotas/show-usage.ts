import type { AccountId } from '../accounts/account.js';
import type { AccountRepository } from '../accounts/account-repository.js';
import type { ApiKey } from '../accounts/api-key.js';
import type { ApiKeyRepository } from '../accounts/api-key-repository.js';
import { limitsOf, type Plan } from '../accounts/plan.js';
import { type Clock, DAY, type Instant, later, startOf } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { NO_USAGE, type QuotaWindow, verdictOn } from './quota.js';
import type { RequestCounter } from './request-counter.js';
import type { DayOfUsage, KeyDayOfUsage, UsageRecords } from './usage-records.js';

/** Days shown, including today. */
export const DAYS_SHOWN = 30;
/** Past keys whose usage is shown, the latest ended first. The bound keeps the query small. */
export const PAST_KEYS_SHOWN = 25;

export interface KeyUsage {
  readonly key: ApiKey;
  readonly days: readonly DayOfUsage[];
}

export interface AccountUsage {
  readonly plan: Plan;
  readonly minute: QuotaWindow;
  readonly today: QuotaWindow;
  /** Requests refused today by a limit or a ban. */
  readonly refusedToday: number;
  /** The keys banned now, and the end of each ban. */
  readonly bans: readonly { readonly key: ApiKey; readonly until: Instant }[];
  /** The last 30 UTC days, oldest first, including days without usage. */
  readonly days: readonly DayOfUsage[];
  /** The days by key, ascending by id: every active key, and of the 25 that ended last those used within these days. */
  readonly keys: readonly KeyUsage[];
}

/** An account's use of its plan, now and over the last days. */
export class ShowUsage {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly apiKeys: ApiKeyRepository,
    private readonly requests: RequestCounter,
    private readonly usage: UsageRecords,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` if there is no such account, or it is closed. */
  async execute({ accountId }: { readonly accountId: AccountId }): Promise<AccountUsage> {
    const now = this.clock.now();
    const today = startOf(DAY, now);
    const first = later(today, -(DAYS_SHOWN - 1) * DAY);
    const [account, active, past, byDay] = await Promise.all([
      this.accounts.findById(accountId),
      this.apiKeys.listActive(accountId, now),
      this.apiKeys.listPast({ accountId, at: now, limit: PAST_KEYS_SHOWN }),
      this.usage.listDays(accountId, first),
    ]);
    if (account === undefined) throw new DomainError('not_found', `no account has the id ${accountId}`);
    const keys = [...active, ...past].sort((one, other) => Number(one.id - other.id));
    const records = await this.usage.list(
      accountId,
      first,
      keys.map(({ id }) => id),
    );
    const limits = limitsOf(account.plan);
    const looks = await Promise.all(
      // All keys of an account share its windows, so a past key shows them too.
      (active.length > 0 ? active : past.slice(0, 1)).map(async (key) => ({
        key,
        verdict: await this.requests.look({ requester: { accountId, keyId: key.id }, limits, now }),
      })),
    );
    const { minute, day } = looks[0]?.verdict ?? verdictOn(NO_USAGE, limits, undefined, now);
    const days = daysOf(byDay, first);
    return {
      plan: account.plan,
      minute,
      today: day,
      refusedToday: days.at(-1)?.refused ?? 0,
      bans: looks.flatMap(({ key, verdict: { bannedUntil } }) =>
        bannedUntil === undefined || !active.includes(key) ? [] : [{ key, until: bannedUntil }],
      ),
      days,
      keys: usageByKey(keys, active, records, first),
    };
  }
}

function usageByKey(
  keys: readonly ApiKey[],
  active: readonly ApiKey[],
  records: readonly KeyDayOfUsage[],
  first: Instant,
): readonly KeyUsage[] {
  return keys.flatMap((key) => {
    const own = records.filter(({ keyId }) => keyId === key.id);
    return own.length > 0 || active.includes(key) ? [{ key, days: daysOf(own, first) }] : [];
  });
}

function daysOf(records: readonly DayOfUsage[], first: Instant): readonly DayOfUsage[] {
  return Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const day = later(first, index * DAY);
    const ofDay = records.filter((record) => record.day === day);
    return {
      day,
      admitted: ofDay.reduce((sum, { admitted }) => sum + admitted, 0),
      refused: ofDay.reduce((sum, { refused }) => sum + refused, 0),
    };
  });
}
