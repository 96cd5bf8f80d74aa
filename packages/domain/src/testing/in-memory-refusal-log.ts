import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import { MOST_REFUSALS, type Refusal, type RefusalLog, type ShownRefusal } from '../quotas/refusal-log.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

export class InMemoryRefusalLog implements RefusalLog {
  /** The latest first. */
  private readonly refusals = new Map<AccountId, readonly Refusal[]>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
  ) {}

  record(accountId: AccountId, refusal: Refusal): void {
    if (this.accounts.stored(accountId) === undefined) return;
    const before = this.refusals.get(accountId) ?? [];
    const all = [refusal, ...before].sort((one, other) => other.at - one.at);
    this.refusals.set(accountId, all.slice(0, MOST_REFUSALS));
  }

  async list(accountId: AccountId, requestId?: string): Promise<readonly ShownRefusal[]> {
    const shown = (this.refusals.get(accountId) ?? []).map(async (refusal) => {
      const found = await this.keys.findById(refusal.keyId);
      return found === undefined || (requestId !== undefined && refusal.requestId !== requestId)
        ? []
        : [{ ...refusal, key: { name: found.key.name, ending: found.key.ending } }];
    });
    return (await Promise.all(shown)).flat();
  }

  async forget(before: Instant): Promise<number> {
    let forgotten = 0;
    for (const [accountId, all] of this.refusals) {
      const kept = all.filter(({ at }) => at >= before);
      forgotten += all.length - kept.length;
      this.refusals.set(accountId, kept);
    }
    return forgotten;
  }

  forgetAccount(accountId: AccountId): void {
    this.refusals.delete(accountId);
  }
}
