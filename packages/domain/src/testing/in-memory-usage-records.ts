import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId } from '../accounts/api-key.js';
import { DAY, type Instant, startOf } from '../kernel/clock.js';
import type { DayOfUsage, KeyDayOfUsage, UsageRecords, UsedKey } from '../quotas/usage-records.js';

type Row = KeyDayOfUsage & { readonly accountId: AccountId };

export class InMemoryUsageRecords implements UsageRecords {
  private readonly rows = new Map<string, Row>();

  record({ accountId, keyId }: UsedKey, isAdmitted: boolean, at: Instant): void {
    const day = startOf(DAY, at);
    const id = `${keyId} ${day}`;
    const { admitted, refused } = this.rows.get(id) ?? { admitted: 0, refused: 0 };
    const counts = isAdmitted ? { admitted: admitted + 1, refused } : { admitted, refused: refused + 1 };
    this.rows.set(id, { accountId, keyId, day, ...counts });
  }

  async listDays(accountId: AccountId, from: Instant): Promise<readonly DayOfUsage[]> {
    const sums = new Map<Instant, DayOfUsage>();
    for (const { day, admitted, refused } of await this.list(accountId, from)) {
      const sum = sums.get(day);
      sums.set(day, { day, admitted: admitted + (sum?.admitted ?? 0), refused: refused + (sum?.refused ?? 0) });
    }
    return [...sums.values()];
  }

  async list(accountId: AccountId, from: Instant, keys?: readonly ApiKeyId[]): Promise<readonly KeyDayOfUsage[]> {
    return [...this.rows.values()]
      .filter((row) => row.accountId === accountId && row.day >= from && keys?.includes(row.keyId) !== false)
      .sort((one, other) => one.day - other.day || (one.keyId < other.keyId ? -1 : 1))
      .map(({ accountId: _accountId, ...row }) => row);
  }

  async forget(before: Instant): Promise<number> {
    const old = [...this.rows].filter(([, { day }]) => day < before);
    for (const [id] of old) this.rows.delete(id);
    return old.length;
  }
}
