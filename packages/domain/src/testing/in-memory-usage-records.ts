import type { AccountId } from '../accounts/account.js';
import { DAY, type Instant, startOf } from '../kernel/clock.js';
import type { KeyDayOfUsage, UsageRecords, UsedKey } from '../quotas/usage-records.js';

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

  async list(accountId: AccountId, from: Instant): Promise<readonly KeyDayOfUsage[]> {
    return [...this.rows.values()]
      .filter((row) => row.accountId === accountId && row.day >= from)
      .sort((one, other) => one.day - other.day || (one.keyId < other.keyId ? -1 : 1))
      .map(({ accountId: _accountId, ...row }) => row);
  }

  async forget(before: Instant): Promise<number> {
    const old = [...this.rows].filter(([, { day }]) => day < before);
    for (const [id] of old) this.rows.delete(id);
    return old.length;
  }
}
