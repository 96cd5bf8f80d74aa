import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId, KeyRequester } from '../accounts/keys/api-key.js';
import { type Instant, instant, MINUTE, startOf } from '../kernel/clock.js';
import {
  MOST_REFUSALS,
  type PeriodOfUsage,
  type RecordedRequest,
  type RequestRecords,
  type ShownRefusal,
  USAGE_SPANS,
  type UsageOfKey,
  type UsageSpan,
} from '../limits/request-records.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

type Usage = PeriodOfUsage & KeyRequester & { readonly lastAt: Instant };
type StoredRefusal = Omit<ShownRefusal, 'key'>;

export class InMemoryRequestRecords implements RequestRecords {
  private readonly usage = { hour: new Map<string, Usage>(), day: new Map<string, Usage>() };
  /** The latest first. */
  private readonly refusals = new Map<AccountId, readonly StoredRefusal[]>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
  ) {}

  record({ accountId, keyId, at, isUse, isAdmitted, operation, refusal }: RecordedRequest): void {
    if (isUse) this.keys.use(keyId, startOf(MINUTE, at), operation);
    if (isAdmitted !== undefined) this.count({ accountId, keyId }, isAdmitted, at);
    if (refusal !== undefined && this.accounts.stored(accountId) !== undefined) {
      const all = [{ ...refusal, at, keyId }, ...(this.refusals.get(accountId) ?? [])];
      this.refusals.set(accountId, all.sort((one, other) => other.at - one.at).slice(0, MOST_REFUSALS));
    }
  }

  async listUsage(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keyId?: ApiKeyId,
  ): Promise<readonly PeriodOfUsage[]> {
    const sums = new Map<Instant, PeriodOfUsage>();
    for (const { start, keyId: key, admitted, refused } of this.usageOf(accountId, span, from)) {
      if (keyId !== undefined && key !== keyId) continue;
      const sum = sums.get(start);
      sums.set(start, { start, admitted: admitted + (sum?.admitted ?? 0), refused: refused + (sum?.refused ?? 0) });
    }
    return [...sums.values()].sort((one, other) => one.start - other.start);
  }

  async sumUsageByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]> {
    const sums = new Map<ApiKeyId, UsageOfKey>();
    for (const { keyId, admitted, refused } of this.usageOf(accountId, span, from)) {
      if (!keys.includes(keyId)) continue;
      const sum = sums.get(keyId);
      sums.set(keyId, { keyId, admitted: admitted + (sum?.admitted ?? 0), refused: refused + (sum?.refused ?? 0) });
    }
    return [...sums.values()].sort((one, other) => (one.keyId < other.keyId ? -1 : 1));
  }

  async lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined> {
    const times = this.usageOf(accountId, 'hour', from).map(({ lastAt }) => lastAt);
    return times.length === 0 ? undefined : instant(Math.max(...times));
  }

  async listRefusals(accountId: AccountId, requestId?: string): Promise<readonly ShownRefusal[]> {
    const shown = (this.refusals.get(accountId) ?? []).map(async (refusal) => {
      const found = await this.keys.findById(refusal.keyId);
      return found === undefined || (requestId !== undefined && refusal.requestId !== requestId)
        ? []
        : [{ ...refusal, key: { name: found.key.name, ending: found.key.ending } }];
    });
    return (await Promise.all(shown)).flat();
  }

  async purgeUsage(span: UsageSpan, before: Instant): Promise<number> {
    const old = [...this.usage[span]].filter(([, { start }]) => start < before);
    for (const [id] of old) this.usage[span].delete(id);
    return old.length;
  }

  async purgeRefusals(before: Instant): Promise<number> {
    let purged = 0;
    for (const [accountId, all] of this.refusals) {
      const kept = all.filter(({ at }) => at >= before);
      purged += all.length - kept.length;
      this.refusals.set(accountId, kept);
    }
    return purged;
  }

  /** Deletes the records that aren't kept after the account is closed. */
  deleteOfAccount(accountId: AccountId): void {
    for (const [id, row] of this.usage.hour) if (row.accountId === accountId) this.usage.hour.delete(id);
    this.refusals.delete(accountId);
  }

  private count({ accountId, keyId }: KeyRequester, isAdmitted: boolean, at: Instant): void {
    for (const span of ['hour', 'day'] as const) {
      const start = startOf(USAGE_SPANS[span], at);
      const id = `${keyId} ${start}`;
      const { admitted, refused, lastAt } = this.usage[span].get(id) ?? { admitted: 0, refused: 0, lastAt: at };
      const counts = isAdmitted ? { admitted: admitted + 1, refused } : { admitted, refused: refused + 1 };
      this.usage[span].set(id, { accountId, keyId, start, ...counts, lastAt: instant(Math.max(lastAt, at)) });
    }
  }

  private usageOf(accountId: AccountId, span: UsageSpan, from: Instant): readonly Usage[] {
    return [...this.usage[span].values()].filter((row) => row.accountId === accountId && row.start >= from);
  }
}
