import type { AccountId } from '../accounts/account.js';
import type { ApiKeyId, KeyRequester } from '../accounts/keys/api-key.js';
import { type Instant, instant, MINUTE, startOf } from '../kernel/clock.js';
import {
  failureOf,
  type FailedRequests,
  joined,
  keptFailedRequests,
  type ShownFailedRequests,
} from '../limits/failed-requests.js';
import {
  type PeriodOfUsage,
  type RecordedRequest,
  type RequestRecords,
  USAGE_SPANS,
  type UsageOfKey,
  type UsageSpan,
} from '../limits/request-records.js';
import { sumOf } from '../limits/get-usage.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

type Usage = PeriodOfUsage & KeyRequester & { readonly lastAt: Instant };

export class InMemoryRequestRecords implements RequestRecords {
  private readonly usage = { hour: new Map<string, Usage>(), day: new Map<string, Usage>() };
  /** The latest first. */
  private readonly failedRequests = new Map<AccountId, readonly FailedRequests[]>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
  ) {}

  record({ accountId, keyId, at, isUse, isAdmitted, operation, failedRequest }: RecordedRequest): void {
    if (isUse) this.keys.use(keyId, startOf(MINUTE, at), operation);
    if (isAdmitted !== undefined) this.count({ accountId, keyId }, isAdmitted, at);
    if (failedRequest !== undefined && this.accounts.stored(accountId) !== undefined) {
      const { requestId, ...failure } = failedRequest;
      const added = { ...failure, keyId, at, count: 1, requestIds: [requestId] };
      const known = this.failedRequests.get(accountId) ?? [];
      const equal = known.find((each) => failureOf(each) === failureOf(added));
      const others = known.filter((each) => each !== equal);
      const all = [equal === undefined ? added : joined(equal, added), ...others];
      this.failedRequests.set(accountId, keptFailedRequests(all));
    }
  }

  async listUsage(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keyId?: ApiKeyId,
  ): Promise<readonly PeriodOfUsage[]> {
    const rows = this.usageOf(accountId, span, from).filter((row) => keyId === undefined || row.keyId === keyId);
    const starts = [...new Set(rows.map(({ start }) => start))].sort((one, other) => one - other);
    return starts.map((start) => ({ start, ...sumOf(rows.filter((row) => row.start === start)) }));
  }

  async sumUsageByKey(
    accountId: AccountId,
    span: UsageSpan,
    from: Instant,
    keys: readonly ApiKeyId[],
  ): Promise<readonly UsageOfKey[]> {
    const rows = this.usageOf(accountId, span, from);
    const used = [...new Set(keys)]
      .filter((keyId) => rows.some((row) => row.keyId === keyId))
      .sort((one, other) => Number(one - other));
    return used.map((keyId) => ({ keyId, ...sumOf(rows.filter((row) => row.keyId === keyId)) }));
  }

  async lastIncluded(accountId: AccountId, from: Instant): Promise<Instant | undefined> {
    const times = this.usageOf(accountId, 'hour', from).map(({ lastAt }) => lastAt);
    return times.length === 0 ? undefined : instant(Math.max(...times));
  }

  async listFailedRequests(accountId: AccountId): Promise<readonly ShownFailedRequests[]> {
    return (this.failedRequests.get(accountId) ?? []).flatMap((each) => {
      const key = this.keys.stored(each.keyId);
      return key === undefined ? [] : { ...each, key: { name: key.name, ending: key.ending } };
    });
  }

  async purgeUsage(span: UsageSpan, before: Instant): Promise<number> {
    const old = [...this.usage[span]].filter(([, { start }]) => start < before);
    for (const [id] of old) this.usage[span].delete(id);
    return old.length;
  }

  async purgeFailedRequests(before: Instant): Promise<number> {
    let purged = 0;
    for (const [accountId, all] of this.failedRequests) {
      const kept = all.filter(({ at }) => at >= before);
      purged += all.length - kept.length;
      this.failedRequests.set(accountId, kept);
    }
    return purged;
  }

  /** Deletes the records that aren't kept after the account is closed. */
  deleteOfAccount(accountId: AccountId): void {
    for (const [id, row] of this.usage.hour) if (row.accountId === accountId) this.usage.hour.delete(id);
    this.failedRequests.delete(accountId);
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
    const theirs = [...this.usage[span].values()].filter((row) => row.accountId === accountId && row.start >= from);
    return theirs.filter(({ keyId }) => this.keys.stored(keyId) !== undefined);
  }
}
