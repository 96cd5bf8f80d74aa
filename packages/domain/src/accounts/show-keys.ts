import type { Clock } from '../kernel/clock.js';
import type { AccountId } from './account.js';
import { type ApiKey, endOf } from './api-key.js';
import type { ApiKeyRepository, PastKeyPlace } from './api-key-repository.js';

/** Past keys on one page. */
export const PAST_KEYS_PAGE = 25;

export interface ShowKeysInput {
  readonly accountId: AccountId;
  /** The end of the previous page. */
  readonly before?: PastKeyPlace | undefined;
}

export interface ShownKeys {
  /** Newest first. */
  readonly active: readonly ApiKey[];
  /** A page of past keys, the latest end first. */
  readonly past: readonly ApiKey[];
  /** The value of `before` for the next page; undefined on the last page. */
  readonly next: PastKeyPlace | undefined;
}

/** An account's keys as a page shows them: every active key, and one page of past keys. */
export class ShowKeys {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  async execute({ accountId, before }: ShowKeysInput): Promise<ShownKeys> {
    const at = this.clock.now();
    const [active, found] = await Promise.all([
      this.keys.listActive(accountId, at),
      // One more item than a page shows whether another page follows.
      this.keys.listPast({ accountId, at, before, limit: PAST_KEYS_PAGE + 1 }),
    ]);
    const past = found.slice(0, PAST_KEYS_PAGE);
    const last = past.at(-1);
    const endedAt = last && endOf(last);
    const hasMore = found.length > past.length && last !== undefined && endedAt !== undefined;
    return { active: active.toReversed(), past, next: hasMore ? { endedAt, id: last.id } : undefined };
  }
}
