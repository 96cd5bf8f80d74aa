import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import { type Instant, instant, startOf } from '../kernel/clock.js';
import {
  type PeriodOfUsage,
  USAGE_SPANS,
  type UsageOfKey,
  type UsageRecords,
  type UsageSpan,
  type UsedKey,
} from '../quotas/usage-records.js';

type Row = PeriodOfUsage & UsedKey & { readonly lastAt: Instant };

export class InMemoryUsageRecords implements UsageRecords {
  private readonly rows = { hour: new Map<string, Row>(), day: new Map<string, Row>() };

  record({ accountId, keyId }: UsedKey, isAdmitted: boolean, at: Instant): void {
    for (const span of ['hour', 'day'] as const) {
      const start = startOf(USAGE_SPANS[span], at);
      const id = `${keyId} ${start}`;
      const { admitted, refused, lastAt } = this.rows[span].get(id) ?? { admitted: 0, refused: 0, lastAt: at };
      const counts = isAdmitted ? { admitted: admitted + 1, refused } : { admitted, refused: refused + 1 };
      this.rows[span].set(id, { accountId, keyId, start, ...counts, lastAt: instant(Math.max(lastAt, at)) });
    }
  }

  async list(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keyId?: ApiKeyId,
  ): Promise<readonly PeriodOfUsage[]> {
    const sums = new Map<Instant, PeriodOfUsage>();
    for (const { start, keyId: key, admitted, refused } of this.rowsOf(accountId, span, from)) {
      if (keyId !== undefined && key !== keyId) continue;
      const sum = sums.get(start);
      sums.set(start, { start, admitted: admitted + (sum?.admitted ?? 0), refused: refused + (sum?.refused ?? 0) });
    }
    return [...sums.values()].sort((one, other) => one.start - other.start);
  }

  async sumByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]> {
    const sums = new Map<ApiKeyId, UsageOfKey>();
    for (const { keyId, admitted, refused } of this.rowsOf(accountId, span, from)) {
      if (!keys.includes(keyId)) continue;
      const sum = sums.get(keyId);
      sums.set(keyId, { keyId, admitted: admitted + (sum?.admitted ?? 0), refused: refused + (sum?.refused ?? 0) });
    }
    return [...sums.values()].sort((one, other) => (one.keyId < other.keyId ? -1 : 1));
  }

  async lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined> {
    const times = this.rowsOf(accountId, 'hour', from).map(({ lastAt }) => lastAt);
    return times.length === 0 ? undefined : instant(Math.max(...times));
  }

  async forget(span: UsageSpan, before: Instant): Promise<number> {
    const old = [...this.rows[span]].filter(([, { start }]) => start < before);
    for (const [id] of old) this.rows[span].delete(id);
    return old.length;
  }

  forgetHoursOf(accountId: AccountId): void {
    for (const [id, row] of this.rows.hour) if (row.accountId === accountId) this.rows.hour.delete(id);
  }

  private rowsOf(accountId: AccountId, span: UsageSpan, from: Instant): readonly Row[] {
    return [...this.rows[span].values()].filter((row) => row.accountId === accountId && row.start >= from);
  }
}
